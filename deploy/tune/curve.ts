import { throughputOf, TooManyStatesError, type ChainSpec } from '../../scheduling/throughput-model.ts';

/** Throughput over the threshold of one model, those of the others fixed. */
export interface Curve {
  /** Whose threshold varies; counted from 1. */
  model: number;
  points: { threshold: number; tokensPerSecond: number }[];
}

/** A curve has at most about this many points. */
const MAX_POINTS = 16;
/** Points with larger chains are left out: a curve is there to look at. */
const MAX_CURVE_STATES = 250_000;

/** One curve per guest through `thresholds`. */
export function curvesAround(spec: ChainSpec, thresholds: readonly number[]): Curve[] {
  return thresholds.flatMap((_, guest) =>
    guest === 0 ? [] : [{ model: guest + 1, points: pointsOf(spec, thresholds, guest) }],
  );
}

function pointsOf(spec: ChainSpec, thresholds: readonly number[], guest: number): Curve['points'] {
  const best = thresholds[guest] ?? 1;
  const held = thresholds.reduce((sum, threshold, i) => (i === guest ? sum : sum + threshold - 1), 0);
  const largest = spec.concurrency - held;
  const stride = Math.ceil(largest / MAX_POINTS);
  const all = Array.from({ length: largest }, (_, i) => i + 1);
  const shown = all.filter((b) => b === 1 || b === best || b === largest || (b - best) % stride === 0);
  return shown.flatMap((threshold) => {
    const at = thresholds.map((value, i) => (i === guest ? threshold : value));
    try {
      return [
        {
          threshold,
          tokensPerSecond: throughputOf(spec, at, { maxStates: MAX_CURVE_STATES }).tokensPerSecond,
        },
      ];
    } catch (error) {
      if (error instanceof TooManyStatesError) return [];
      throw error;
    }
  });
}
