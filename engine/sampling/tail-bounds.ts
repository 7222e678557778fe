import type { SamplerInput } from './sampler-input.ts';
import type { ShortList } from './short-list.ts';

const FLOAT32_HALF_ULP = 2 ** -24;
const ROUNDING = 1e-9;

/** Bound of the error of a log-sum-exp that was added up in float32, in whatever order, with float32 `exp`. */
function defaultError(input: SamplerInput): number {
  // With the width unknown the padding is assumed to be no wider than the vocabulary itself.
  const width = input.logitsWidth ?? 2 * input.vocabLimit;
  return (width + 64) * FLOAT32_HALF_ULP + 4 * FLOAT32_HALF_ULP * Math.abs(input.logSumExp);
}

/**
 * Bounds of Σ exp((z − z₀)/T) over the n unlisted ids, from what is known of them at temperature 1: their
 * mass R = exp(lse − z₀) − listed mass, and that none exceeds the last listed logit zₗ.
 *
 * With a = exp(z − z₀) and β = 1/T the sum is Σ a^β. For β ≥ 1 a^β is convex and each a ≤ aₗ, so
 * n (R/n)^β ≤ Σ a^β ≤ aₗ^(β−1) R; for β ≤ 1 it is concave and both signs turn. At T = 1 the bounds meet.
 */
export function tailWeightBounds(
  list: ShortList,
  input: SamplerInput,
  temperature: number,
): { lo: number; hi: number } {
  const best = list.values[0] ?? 0;
  const last = list.values[list.values.length - 1] ?? 0;
  let listed = 0;
  for (const value of list.values) listed += Math.exp(value - best);
  const error = input.logSumExpError ?? defaultError(input);
  const massHi = Math.exp(input.logSumExp - best + error) - listed * (1 - ROUNDING);
  const massLo = Math.exp(input.logSumExp - best - error) - listed * (1 + ROUNDING);
  // Where the row may hold padding, all of the unlisted mass may lie there.
  const mayHoldPadding = input.logitsWidth === undefined || input.logitsWidth > input.vocabLimit;
  const restHi = Math.max(massHi, error);
  const restLo = mayHoldPadding ? 0 : Math.max(massLo, 0);

  const power = 1 / temperature;
  const byLast = (mass: number): number => Math.exp((last - best) * (power - 1)) * mass;
  const byMean = (mass: number): number => list.numUnlisted * (mass / list.numUnlisted) ** power;
  const [lower, upper] = power >= 1 ? [byMean, byLast] : [byLast, byMean];
  const lo = restLo === 0 ? 0 : lower(restLo) * (1 - ROUNDING);
  return { lo, hi: upper(restHi) * (1 + ROUNDING) };
}
