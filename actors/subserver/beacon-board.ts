import type { Clock } from '../../core/clock.ts';
import type { ModelId } from '../../core/request.ts';
import type { PeerView } from '../../scheduling/index.ts';
import type { Beacon } from '../../transport/messages.ts';
import { BusyTime } from './busy-time.ts';
import { PeerTrack, type TrackedPeer } from './peer-track.ts';

export interface BeaconBoardOptions {
  self: ModelId;
  replica: string;
  home: ModelId;
  staleMs: number;
}

/** More replicas than this are not remembered: a bound, far above any deployment. */
const MAX_PEERS = 4096;

/** What the peers announced last, brought up to now by what has passed between us since. */
export class BeaconBoard {
  /** Called when a peer's beacon arrives; a policy that holds asks again. */
  onNews: (() => void) | undefined;
  /** Speed of this model while another one runs as well, in (0, 1]. */
  overlapFactor = 1;
  private readonly options: BeaconBoardOptions;
  private readonly clock: Clock;
  private readonly heard = new Map<string, PeerTrack>();
  private readonly own = new BusyTime();
  private readonly others = new BusyTime();

  constructor(options: BeaconBoardOptions, clock: Clock) {
    this.options = options;
    this.clock = clock;
  }

  receive(beacon: Beacon): void {
    const { self, replica } = this.options;
    if (beacon.model === self && beacon.replica === replica) return;
    const nowMs = this.clock.nowMs();
    const key = keyOf(beacon.model, beacon.replica);
    const known = this.heard.get(key);
    if (known) known.hear(beacon, nowMs, this.own.total(nowMs));
    else if (this.heard.size >= MAX_PEERS) return;
    else this.heard.set(key, new PeerTrack(beacon, nowMs, this.own.total(nowMs)));
    this.noteOthers(nowMs);
    this.onNews?.();
  }

  /** A replica that is gone says nothing any more. */
  forget(model: ModelId, replica: string): void {
    this.heard.delete(keyOf(model, replica));
    this.noteOthers(this.clock.nowMs());
  }

  /** A request went to this peer; `replica` undefined = any of the model. Not for repeats. */
  handedTo(model: ModelId, replica: string | undefined): void {
    this.track(model, replica)?.sent(this.clock.nowMs());
  }

  /** A request came from this peer. Not for repeats. */
  cameFrom(model: ModelId, replica: string): void {
    const nowMs = this.clock.nowMs();
    this.track(model, replica)?.received(nowMs);
    this.noteOthers(nowMs);
  }

  /** The own step begins. */
  stepStarted(): void {
    this.own.set(true, this.clock.nowMs());
  }

  /** The own step has ended. */
  stepEnded(): void {
    this.own.set(false, this.clock.nowMs());
  }

  /** Time during which another model ran, in total; differences tell how much of a step overlapped. */
  get othersBusyMs(): number {
    return this.others.total(this.clock.nowMs());
  }

  peers(): TrackedPeer[] {
    const nowMs = this.clock.nowMs();
    const ownBusyMs = this.own.total(nowMs);
    const { overlapFactor } = this;
    const tracks = this.fresh(nowMs);
    const numHere = 1 + tracks.filter(({ beacon }) => beacon.model === this.options.self).length;
    return tracks.map((track) => {
      const share = (track.estimates?.routing[this.options.self - 1] ?? 0) / numHere;
      const decidesFirst = this.isBeforeUs(track.beacon);
      return track.view({ nowMs, ownBusyMs, overlapFactor, decidesFirst, shareToHere: share });
    });
  }

  /** Whether this replica still speaks. */
  isHeard(model: ModelId, replica: string): boolean {
    const track = this.heard.get(keyOf(model, replica));
    return track !== undefined && track.ageMs(this.clock.nowMs()) <= this.options.staleMs;
  }

  /** Last beacons with the newest estimates of each peer that still speaks. */
  reports(): Pick<PeerTrack, 'beacon' | 'estimates'>[] {
    return this.fresh(this.clock.nowMs());
  }

  /** Requests that can still come here: those with state here, or as many as all homes have alive. */
  aliveFor(peers: readonly PeerView[], numHere: number, numAtHomeHere: number): number {
    const elsewhere = peers.reduce((sum, peer) => sum + peer.aliveAtHome, 0);
    return Math.max(numHere, numAtHomeHere + elsewhere);
  }

  /**
   * Whether nothing in the system can move unless somebody who holds starts, and it is this model's turn: every
   * peer is idle and has decided to hold, all requests alive wait in queues, and the own queue is the longest (ties: the
   * lower model id, then the replica's name).
   */
  isStalled(peers: readonly TrackedPeer[], numWaitingHere: number, numAtHomeHere: number): boolean {
    if (peers.some((peer) => peer.rowsRunning > 0 || peer.isDeciding)) return false;
    const alive = peers.reduce((sum, peer) => sum + peer.aliveAtHome, numAtHomeHere);
    const waiting = peers.reduce((sum, peer) => sum + peer.waiting, numWaitingHere);
    if (waiting < alive) return false;
    return peers.every((peer) => this.isLonger(numWaitingHere, peer));
  }

  stop(): void {
    this.onNews = undefined;
  }

  private track(model: ModelId, replica: string | undefined): PeerTrack | undefined {
    if (replica !== undefined) return this.heard.get(keyOf(model, replica));
    const replicas = [...this.heard.values()].filter(({ beacon }) => beacon.model === model);
    return replicas.length === 1 ? replicas[0] : undefined;
  }

  /** Peers that still speak: who has requests says so more often than every `staleMs`, all others are gone. */
  private fresh(nowMs: number): PeerTrack[] {
    const numBefore = this.heard.size;
    for (const [key, track] of this.heard)
      if (track.ageMs(nowMs) > this.options.staleMs) this.heard.delete(key);
    if (this.heard.size < numBefore) this.noteOthers(nowMs); // who is gone runs nothing any more
    return [...this.heard.values()];
  }

  private noteOthers(nowMs: number): void {
    let isBusy = false;
    for (const track of this.heard.values())
      isBusy ||= track.isRunning && track.beacon.model !== this.options.self;
    this.others.set(isBusy, nowMs);
  }

  /** In one instant the home decides first, then the others by id. */
  private isBeforeUs({ model, replica }: Beacon): boolean {
    const { self, home } = this.options;
    if (model === self) return replica < this.options.replica;
    return model === home || (self !== home && model < self);
  }

  private isLonger(numWaitingHere: number, peer: PeerView): boolean {
    if (numWaitingHere !== peer.waiting) return numWaitingHere > peer.waiting;
    const { self, replica } = this.options;
    return self !== peer.model ? self < peer.model : replica < peer.replica;
  }
}

const keyOf = (model: ModelId, replica: string): string => `${model} ${replica}`;
