import { accuracyAt, pointOf, type CurvePoint, type Outcome, type Weights } from './outcome.ts';
import { spreadOf } from './resampling.ts';

/** How far a curve lies above a reference, in accuracy. */
export interface Gap {
  /** Shares that were compared. */
  from: number;
  to: number;
  /** The smallest one, where it is, and its standard error. */
  smallest: number;
  at: number;
  standardError: number;
  mean: number;
  meanStandardError: number;
}

const NUM_SHARES = 100;

/** Shares from `from` to `to`, evenly, with the knots between them. */
function sharesBetween(from: number, to: number, knots: readonly number[]): number[] {
  const even = Array.from({ length: NUM_SHARES + 1 }, (_, i) => from + ((to - from) * i) / NUM_SHARES);
  return [...even, ...knots.filter((share) => share > from && share < to)];
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Accuracy of the reference at a share, with the problems weighed. */
export type Reference = (share: number, weights?: Weights) => number;

/**
 * The curve through the outcomes of one algorithm (one per threshold) against a reference, between the curve's smallest
 * and largest share, and within `within`. Resamples redraw problems for everything at once: shares, curve and reference.
 */
export function gapOf(
  curve: readonly Outcome[],
  reference: Reference,
  samples: readonly Weights[],
  within: { from: number; to: number } = { from: 0, to: 1 },
): Gap | undefined {
  const points = curve.map((outcome) => pointOf(outcome));
  const knots = points.map(({ share }) => share);
  const from = Math.max(within.from, Math.min(...knots));
  const to = Math.min(within.to, Math.max(...knots));
  if (!(from <= to)) return undefined;
  const shares = sharesBetween(from, to, knots);
  const gapAt = (own: readonly CurvePoint[], share: number, weights?: Weights): number =>
    accuracyAt(own, share) - reference(share, weights);
  const gaps = shares.map((share) => ({ share, gap: gapAt(points, share) }));
  const { share: at, gap: smallest } = gaps.reduce((least, one) => (one.gap < least.gap ? one : least));
  const redrawn = (weights: Weights): CurvePoint[] => curve.map((outcome) => pointOf(outcome, weights));
  const few = sharesBetween(from, to, knots).filter((_, i) => i % 10 === 0);
  return {
    from,
    to,
    smallest,
    at,
    standardError: spreadOf(samples, (weights) => gapAt(redrawn(weights), at, weights)).standardError,
    mean: meanOf(gaps.map(({ gap }) => gap)),
    meanStandardError: spreadOf(samples, (weights) => {
      const own = redrawn(weights);
      return meanOf(few.map((share) => gapAt(own, share, weights)));
    }).standardError,
  };
}

/** Another algorithm's curve as a reference, with the shares that it covers. */
export function curveReference(curve: readonly Outcome[]): {
  reference: Reference;
  from: number;
  to: number;
} {
  const shares = curve.map((outcome) => pointOf(outcome).share);
  return {
    reference: (share, weights) =>
      accuracyAt(
        curve.map((outcome) => pointOf(outcome, weights)),
        share,
      ),
    from: Math.min(...shares),
    to: Math.max(...shares),
  };
}
