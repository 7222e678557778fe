/** A number of rows, or one per number of requests alive: the first for one, the last for all beyond. */
export type Threshold = number | readonly number[];

/** The threshold that holds for `alive` requests. */
export function thresholdFor(threshold: Threshold, alive: number): number {
  if (typeof threshold === 'number') return threshold;
  return threshold[Math.min(Math.max(alive, 1), threshold.length) - 1] ?? 1;
}

/** For names: `5`, or `1:2:2:3` for a table. */
export function thresholdText(threshold: Threshold): string {
  return typeof threshold === 'number' ? String(threshold) : threshold.join(':');
}
