import type { PeerView, QueueView } from './policy.ts';

/** A step of 10 ms may be this share of itself late before its end is taken for lost: hops, rounding, estimates. */
const GRACE_SHARE = 0.1;
/** Standard deviations of the step time by which a step may be late. */
const GRACE_DEVIATIONS = 2;
const MAX_GRACE_SHARE = 0.5;

/**
 * How long after its expected end a peer's step is still waited for, in milliseconds: a share of the own step, more
 * where step times scatter, half a step at most. So much does a lost beacon cost, once.
 */
function graceMs(view: QueueView): number {
  const share = Math.min(MAX_GRACE_SHARE, GRACE_SHARE + GRACE_DEVIATIONS * view.stepJitter);
  return share * view.stepMs(view.waiting);
}

/**
 * Milliseconds after which to stop waiting for the end of a peer's step, ≤ 0 where it is no longer waited for: an
 * idle peer, or one that is overdue by more than the grace.
 */
export function waitForEndMs(view: QueueView, peer: PeerView): number {
  return peer.rowsRunning > 0 ? Math.max(0, peer.stepLeftMs) + graceLeftMs(view, peer) : 0;
}

function graceLeftMs(view: QueueView, peer: PeerView): number {
  return graceMs(view) + Math.min(0, peer.stepLeftMs);
}
