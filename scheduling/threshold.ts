import { holdOrStart, rowsWithinReach } from './escapes.ts';
import type { Decision, QueueView, StartPolicy } from './policy.ts';
import { thresholdFor, thresholdText, type Threshold } from './rows-to-wait-for.ts';

export interface ThresholdOptions {
  /** Rows to wait for, ≥ 1. Clipped to the requests that can still come and to the largest step. */
  threshold: Threshold;
  /** No row waits longer than this, in milliseconds: a ceiling for latency, and the last escape from a hang. */
  maxWaitMs: number;
}

/** Whether as many rows wait as the threshold asks for, or as can be had. */
export function isThresholdReached(view: QueueView, threshold: Threshold): boolean {
  return view.waiting >= Math.min(thresholdFor(threshold, view.alive), rowsWithinReach(view));
}

/** Starts when `threshold` rows wait, whatever the others do. */
export function thresholdPolicy({ threshold, maxWaitMs }: ThresholdOptions): StartPolicy {
  const decide = (view: QueueView): Decision =>
    isThresholdReached(view, threshold) ? { kind: 'start' } : holdOrStart(view, maxWaitMs, maxWaitMs);
  return { name: `threshold(${thresholdText(threshold)})`, decide };
}
