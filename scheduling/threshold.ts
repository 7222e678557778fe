import type { Decision, QueueView, StartPolicy } from './policy.ts';

export interface ThresholdOptions {
  /** Rows to wait for, ≥ 1. Clipped to the requests that can still come and to the largest step. */
  threshold: number;
  /** No row waits longer than this, in milliseconds: a ceiling for latency, and the last escape from a hang. */
  maxWaitMs: number;
}

/**
 * Less than a microsecond left counts as over: clocks do not resolve it, and a timer for such a rest of a
 * floating-point difference would fire in the same instant, again and again.
 */
const RESOLUTION_MS = 0.001;

/**
 * Starts when `threshold` rows wait. Three escapes make a hang impossible: it never waits for more rows than
 * can still arrive, it starts when nothing else in the system can move, and the oldest row waits at most
 * `maxWaitMs`.
 */
export function thresholdPolicy(options: ThresholdOptions): StartPolicy {
  const decide = (view: QueueView): Decision => {
    const needed = Math.min(options.threshold, view.alive, view.maxNumSeqs);
    if (view.waiting >= needed || view.isSystemStalled) return { kind: 'start' };
    const leftMs = options.maxWaitMs - view.oldestWaitMs;
    return leftMs < RESOLUTION_MS ? { kind: 'start' } : { kind: 'hold', forMs: leftMs };
  };
  return { name: `threshold(${options.threshold})`, decide };
}
