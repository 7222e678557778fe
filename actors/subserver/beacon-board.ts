import type { Clock, Timer } from '../../core/clock.ts';
import type { ModelId } from '../../core/request.ts';
import type { PeerView } from '../../scheduling/index.ts';
import type { Beacon } from '../../transport/messages.ts';

interface Heard {
  beacon: Beacon;
  atMs: number;
}

/** What a subserver says of itself. */
export type Announcement = Pick<Beacon, 'rowsRunning' | 'stepLeftMs' | 'waiting' | 'aliveAtHome'>;

export interface BeaconBoardOptions {
  self: ModelId;
  replica: string;
  minIntervalMs: number;
  staleMs: number;
}

/** More replicas than this are not remembered: a bound, far above any deployment. */
const MAX_PEERS = 4096;

/** Announcements per stale time while nothing changes: some may be lost. */
const REFRESHES_PER_STALE_TIME = 4;

const isSame = (a: Announcement, b: Announcement | undefined): boolean =>
  a.rowsRunning === b?.rowsRunning && a.waiting === b.waiting && a.aliveAtHome === b.aliveAtHome;

/** What the peers announced last, and the own announcements (rate-bounded: the newest one always goes out). */
export class BeaconBoard {
  /** Called when a peer's beacon arrives; a policy that holds asks again. */
  onNews: (() => void) | undefined;
  private readonly options: BeaconBoardOptions;
  private readonly clock: Clock;
  private readonly publish: (beacon: Beacon) => void;
  private readonly heard = new Map<string, Heard>();
  private lastSentMs = -Infinity;
  private lastSent: Announcement | undefined;
  private next: Announcement | undefined;
  private timer: Timer | undefined;

  constructor(options: BeaconBoardOptions, clock: Clock, publish: (beacon: Beacon) => void) {
    this.options = options;
    this.clock = clock;
    this.publish = publish;
  }

  receive(beacon: Beacon): void {
    const { self, replica } = this.options;
    if (beacon.model === self && beacon.replica === replica) return;
    const key = `${beacon.model} ${beacon.replica}`;
    if (this.heard.size >= MAX_PEERS && !this.heard.has(key)) return;
    this.heard.set(key, { beacon, atMs: this.clock.nowMs() });
    this.onNews?.();
  }

  /** A replica that is gone says nothing any more. */
  forget(model: ModelId, replica: string): void {
    this.heard.delete(`${model} ${replica}`);
  }

  peers(): PeerView[] {
    const nowMs = this.clock.nowMs();
    const views: PeerView[] = [];
    for (const [key, { beacon, atMs }] of this.heard) {
      const ageMs = nowMs - atMs;
      if (ageMs > this.options.staleMs) {
        this.heard.delete(key); // who has requests says so more often: this one is gone
        continue;
      }
      const { model, replica, rowsRunning, waiting, aliveAtHome } = beacon;
      const stepLeftMs = Math.max(0, beacon.stepLeftMs - ageMs);
      views.push({ model, replica, rowsRunning, stepLeftMs, waiting, aliveAtHome, shareToHere: 0 });
    }
    return views;
  }

  /** Requests that can still come here: those with state here, or as many as all homes have alive. */
  aliveFor(peers: readonly PeerView[], numHere: number, numAtHomeHere: number): number {
    const elsewhere = peers.reduce((sum, peer) => sum + peer.aliveAtHome, 0);
    return Math.max(numHere, numAtHomeHere + elsewhere);
  }

  /**
   * Whether nothing in the system can move unless somebody who holds starts, and it is this model's turn: every
   * peer is idle, all requests alive wait in queues, and the own queue is the longest (ties: the lower model id,
   * then the replica's name).
   */
  isStalled(peers: readonly PeerView[], numWaitingHere: number, numAtHomeHere: number): boolean {
    if (peers.some((peer) => peer.rowsRunning > 0)) return false;
    const alive = peers.reduce((sum, peer) => sum + peer.aliveAtHome, numAtHomeHere);
    const waiting = peers.reduce((sum, peer) => sum + peer.waiting, numWaitingHere);
    if (waiting < alive) return false;
    return peers.every((peer) => this.isBefore(numWaitingHere, peer));
  }

  announce(news: Announcement): void {
    if (news.rowsRunning === 0 && isSame(news, this.lastSent) && !this.next) return;
    this.next = news;
    const waitMs = this.lastSentMs + this.options.minIntervalMs - this.clock.nowMs();
    if (waitMs <= 0) this.send();
    else this.timer ??= this.clock.setTimer(waitMs, () => this.send());
  }

  /** Says the last announcement again before peers take it for stale: a long step or a long hold is no end. */
  refresh(): void {
    const { lastSent } = this;
    const ageMs = this.clock.nowMs() - this.lastSentMs;
    if (!lastSent || this.next || ageMs < this.options.staleMs / REFRESHES_PER_STALE_TIME) return;
    this.next = { ...lastSent, stepLeftMs: Math.max(0, lastSent.stepLeftMs - ageMs) };
    this.send();
  }

  stop(): void {
    this.timer?.cancel();
    this.next = undefined;
    this.onNews = undefined;
  }

  private send(): void {
    this.timer?.cancel();
    this.timer = undefined;
    const news = this.next;
    if (!news) return;
    this.next = undefined;
    this.lastSentMs = this.clock.nowMs();
    this.lastSent = news;
    const { self, replica } = this.options;
    this.publish({ kind: 'beacon', model: self, replica, ...news });
  }

  private isBefore(numWaitingHere: number, peer: PeerView): boolean {
    if (numWaitingHere !== peer.waiting) return numWaitingHere > peer.waiting;
    const { self, replica } = this.options;
    return self !== peer.model ? self < peer.model : replica < peer.replica;
  }
}
