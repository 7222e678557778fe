import type { Decision, QueueView } from './policy.ts';

/**
 * Less than a microsecond left counts as over: clocks do not resolve it, and a timer for such a rest of a
 * floating-point difference would fire in the same instant, again and again.
 */
const RESOLUTION_MS = 0.001;

const START: Decision = { kind: 'start' };

/** Rows worth waiting for at most: no more can come, or fit into a step. */
export function rowsWithinReach(view: QueueView): number {
  return Math.min(view.alive, view.maxNumSeqs);
}

/**
 * What a policy wants, unless an escape says otherwise. Two escapes make a hang impossible whatever it wants: it
 * starts when nothing else in the system can move, and its oldest row waits at most `maxWaitMs`.
 *
 * @param wishMs how long the policy wants to hold, in milliseconds; what no clock resolves means start
 */
export function holdOrStart(view: QueueView, maxWaitMs: number, wishMs: number): Decision {
  if (view.isSystemStalled) return START;
  const forMs = Math.min(wishMs, maxWaitMs - view.oldestWaitMs);
  return forMs >= RESOLUTION_MS ? { kind: 'hold', forMs } : START; // NaN starts as well
}
