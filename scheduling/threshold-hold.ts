import { lookAheadPolicy } from './look-ahead.ts';
import type { StartPolicy } from './policy.ts';
import { thresholdText } from './rows-to-wait-for.ts';
import { thresholdPolicy, type ThresholdOptions } from './threshold.ts';

export interface ThresholdHoldOptions extends ThresholdOptions {
  /** As for look-ahead; at the home. */
  kappa?: number | undefined;
}

/**
 * Guests wait for a number of rows; the home starts at once, unless a guest's step is about to end: then it holds as
 * look-ahead does. Keeps the large batches of a threshold and takes the returning rows along.
 */
export function thresholdHoldPolicy(options: ThresholdHoldOptions): StartPolicy {
  const home = lookAheadPolicy(options);
  const guest = thresholdPolicy(options);
  return {
    name: `threshold-hold(${thresholdText(options.threshold)})`,
    decide: (view) => (view.self === view.home ? home : guest).decide(view),
  };
}
