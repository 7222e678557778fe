import { curveMs } from '../../scheduling/estimate/step-curve.ts';
import type { PeerView } from '../../scheduling/index.ts';
import type { Beacon, LoadEstimates } from '../../transport/messages.ts';

/** A peer as it probably stands now. */
export interface TrackedPeer extends PeerView {
  /** It is about to say whether it starts a step: whatever it does, it will be heard of. */
  isDeciding: boolean;
}

/** What the board knows besides the peer's own words. */
export interface TrackContext {
  nowMs: number;
  /** Time during which this subserver ran a step, in total, and its speed while another one runs as well. */
  ownBusyMs: number;
  overlapFactor: number;
  /** Whether the peer decides before this subserver where both may start in one instant. */
  decidesFirst: boolean;
  shareToHere: number;
}

/** Longer than this nobody takes to decide, hops included: its word was lost. */
const DECIDING_MS = 50;

/** One peer: its last beacon, and what has passed between us since. A beacon is news of the past by a hop, and rows travel too. */
export class PeerTrack {
  beacon: Beacon;
  estimates: LoadEstimates | undefined;
  private heardMs: number;
  private ownBusyAtMs: number;
  private numSent = 0;
  private firstSentMs = 0;
  private numReceived = 0;
  private firstReceivedMs = 0;
  /** Last announced time of a whole step, while there is no curve. */
  private lastStepMs = 0;

  constructor(beacon: Beacon, nowMs: number, ownBusyMs: number) {
    this.beacon = beacon;
    this.heardMs = nowMs;
    this.ownBusyAtMs = ownBusyMs;
    this.hear(beacon, nowMs, ownBusyMs);
  }

  hear(beacon: Beacon, nowMs: number, ownBusyMs: number): void {
    this.beacon = beacon;
    this.heardMs = nowMs;
    this.ownBusyAtMs = ownBusyMs;
    this.numSent = 0;
    this.numReceived = 0;
    this.estimates = beacon.estimates ?? this.estimates;
    if (beacon.rowsRunning > 0) this.lastStepMs = Math.max(beacon.stepLeftMs, 0);
  }

  /** A request was handed to it. */
  sent(nowMs: number): void {
    if (this.numSent === 0) this.firstSentMs = nowMs;
    this.numSent += 1;
  }

  /** A request came from it: rows leave when a step ends. */
  received(nowMs: number): void {
    if (this.numReceived === 0) this.firstReceivedMs = nowMs;
    this.numReceived += 1;
  }

  ageMs(nowMs: number): number {
    return nowMs - this.heardMs;
  }

  /** Whether its step is still in flight for all we know. */
  get isRunning(): boolean {
    return this.beacon.rowsRunning > 0 && this.numReceived === 0;
  }

  view(context: TrackContext): TrackedPeer {
    const { model, replica, aliveAtHome } = this.beacon;
    const common = { model, replica, aliveAtHome, shareToHere: context.shareToHere };
    if (this.isRunning) {
      const { rowsRunning, waiting } = this.beacon;
      const stepLeftMs = this.stepLeftMs(context);
      return { ...common, rowsRunning, stepLeftMs, waiting: waiting + this.numSent, isDeciding: false };
    }
    const waiting = this.numWaiting();
    const sinceMs = this.decidingSinceMs();
    if (sinceMs === undefined || waiting === 0 || context.nowMs - sinceMs > DECIDING_MS)
      return { ...common, rowsRunning: 0, stepLeftMs: 0, waiting, isDeciding: false };
    return { ...common, ...this.afterDecision(waiting, sinceMs, context), isDeciding: true };
  }

  /** Who decides later in this instant is idle yet; all others will have started with everything that waits there. */
  private afterDecision(
    waiting: number,
    sinceMs: number,
    { nowMs, decidesFirst }: TrackContext,
  ): Pick<PeerView, 'rowsRunning' | 'stepLeftMs' | 'waiting'> {
    const rows = Math.min(waiting, this.estimates?.maxNumSeqs ?? waiting);
    const stepMs = this.stepMs(rows);
    if (!(stepMs > 0) || (sinceMs === nowMs && !decidesFirst))
      return { rowsRunning: 0, stepLeftMs: 0, waiting };
    return { rowsRunning: rows, stepLeftMs: stepMs - (nowMs - sinceMs), waiting: waiting - rows };
  }

  /** Since when it may be choosing rows; undefined while it has no reason to. */
  private decidingSinceMs(): number | undefined {
    if (this.beacon.rowsRunning > 0) return this.firstReceivedMs;
    if (this.beacon.isDeciding === true) return this.heardMs;
    return this.numSent > 0 ? this.firstSentMs : undefined;
  }

  private numWaiting(): number {
    const { rowsRunning, waiting } = this.beacon;
    const numStayed = rowsRunning > 0 ? Math.max(0, rowsRunning - this.numReceived) : 0;
    return waiting + numStayed + this.numSent;
  }

  /** Work left of its step: while this subserver ran as well, it went on at the speed of contention. */
  private stepLeftMs({ nowMs, ownBusyMs, overlapFactor }: TrackContext): number {
    const sharedMs = ownBusyMs - this.ownBusyAtMs;
    return this.beacon.stepLeftMs - (this.ageMs(nowMs) - (1 - overlapFactor) * sharedMs);
  }

  private stepMs(rows: number): number {
    return curveMs(this.estimates?.curve ?? [], rows) || this.lastStepMs;
  }
}
