import {
  throughputOf,
  TooManyStatesError,
  type BestThresholds,
  type ChainSpec,
} from '../../scheduling/throughput-model.ts';

/** Throughput over the threshold of one model, those of the others fixed. */
export interface Curve {
  /** Whose threshold varies; counted from 1. */
  model: number;
  points: { threshold: number; tokensPerSecond: number }[];
}

/** A curve has at most about this many points. */
const MAX_POINTS = 16;
/** Points with larger chains are left out: a curve is there to look at. */
const MAX_CURVE_STATES = 100_000;

/** One curve per guest through the best thresholds. */
export function curvesAround(spec: ChainSpec, best: BestThresholds): Curve[] {
  return best.thresholds.flatMap((_, guest) =>
    guest === 0 ? [] : [{ model: guest + 1, points: pointsOf(spec, best, guest) }],
  );
}

function pointsOf(
  spec: ChainSpec,
  { thresholds, tokensPerSecond }: BestThresholds,
  guest: number,
): Curve['points'] {
  const best = thresholds[guest] ?? 1;
  const held = thresholds.reduce((sum, threshold, i) => (i === guest ? sum : sum + threshold - 1), 0);
  const largest = spec.concurrency - held;
  const stride = Math.ceil(largest / MAX_POINTS);
  const all = Array.from({ length: largest }, (_, i) => i + 1);
  const shown = all.filter((b) => b === 1 || b === largest || (b - best) % stride === 0);
  return shown.flatMap((threshold) => {
    if (threshold === best) return [{ threshold, tokensPerSecond }];
    const at = thresholds.map((value, i) => (i === guest ? threshold : value));
    const value = valueAt(spec, at);
    return value === undefined ? [] : [{ threshold, tokensPerSecond: value }];
  });
}

/** Undefined where the chain is too large. */
function valueAt(spec: ChainSpec, thresholds: readonly number[]): number | undefined {
  try {
    return throughputOf(spec, thresholds, { maxStates: MAX_CURVE_STATES }).tokensPerSecond;
  } catch (error) {
    if (error instanceof TooManyStatesError) return undefined;
    throw error;
  }
}
