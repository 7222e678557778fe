import type { HandoffSide } from './algorithms.ts';

/**
 * The threshold that sends the share `share` of these signals to the large model (as near as their number allows).
 * @param signals of the small model's tokens, in any order
 */
export function thresholdFor(signals: readonly number[], share: number, side: HandoffSide): number {
  const sorted = Float64Array.from(signals).sort();
  const numSent = Math.round(share * sorted.length);
  // Of n sorted values the threshold is the first that stays, or the last that goes where equality goes. By its index: a
  // quantile of (k / n) is another value wherever (k / n) · n is not k.
  const index = side === 'below' ? numSent : sorted.length - numSent - (side === 'above' ? 1 : 0);
  return sorted[Math.min(sorted.length - 1, Math.max(0, index))] ?? NaN;
}

/** What a threshold gave on the problems for choosing. */
export interface Calibrated {
  threshold: number;
  /** Large model's share of the tokens, as it came out. */
  share: number;
  accuracy: number;
}

/**
 * A threshold between two measured ones that should bring the share to `share`, by linear interpolation; undefined where
 * the measured shares do not enclose it, or one lies within `tolerance` (relative) of it already.
 */
export function refinedThreshold(
  points: readonly Calibrated[],
  share: number,
  tolerance: number,
): number | undefined {
  if (points.some((point) => Math.abs(point.share - share) <= tolerance * share)) return undefined;
  const sorted = [...points].sort((a, b) => a.share - b.share);
  const above = sorted.find((point) => point.share > share);
  const below = sorted.findLast((point) => point.share < share);
  if (above === undefined || below === undefined) return undefined;
  const part = (share - below.share) / (above.share - below.share);
  return below.threshold + part * (above.threshold - below.threshold);
}

/** The most accurate point with at most `maxShare`; of equals the one with the smallest share. */
export function chosenPoint<P extends Calibrated>(points: readonly P[], maxShare: number): P | undefined {
  return points
    .filter(({ share }) => share <= maxShare)
    .sort((a, b) => b.accuracy - a.accuracy || a.share - b.share)[0];
}

/** For each share the point that came nearest to it; none twice, in order of share. */
export function nearestPoints<P extends Calibrated>(points: readonly P[], shares: readonly number[]): P[] {
  const distance = (point: P, share: number): number =>
    Math.abs(Math.log(Math.max(point.share, 1e-6) / share));
  const nearest = shares.flatMap((share) =>
    [...points].sort((a, b) => distance(a, share) - distance(b, share)).slice(0, 1),
  );
  return [...new Set(nearest)].sort((a, b) => a.share - b.share);
}
