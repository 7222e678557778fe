import { uniform } from '../../core/random.ts';
import { quantile } from '../handoff/statistics.ts';
import type { Weights } from './outcome.ts';

/** How often each of `n` problems is drawn when n are drawn with replacement; `count` such draws, the same for a seed. */
export function resamples(n: number, count: number, seed: number): Uint16Array[] {
  return Array.from({ length: count }, (_, sample) => {
    const weights = new Uint16Array(n);
    for (let i = 0; i < n; i += 1) {
      const index = Math.floor(n * uniform({ seed, position: i, model: sample, purpose: 'simulation' }));
      weights[index] = (weights[index] ?? 0) + 1;
    }
    return weights;
  });
}

export interface Spread {
  standardError: number;
  /** Of 95 %. */
  low: number;
  high: number;
}

/** How a statistic of the problems varies over resamples of them (percentile bootstrap). */
export function spreadOf(samples: readonly Weights[], statistic: (weights: Weights) => number): Spread {
  const values = Float64Array.from(samples, statistic).sort();
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const standardError = Math.sqrt(squares / Math.max(1, values.length - 1));
  return { standardError, low: quantile(values, 0.025), high: quantile(values, 0.975) };
}

/**
 * McNemar's exact two-sided test of two lists of right (1) and wrong (0) answers to the same problems: how likely is so
 * uneven a split of the problems that one answers and the other does not, if both were equally good?
 */
export function mcNemar(
  a: readonly number[],
  b: readonly number[],
): { p: number; onlyA: number; onlyB: number } {
  const onlyA = a.filter((right, i) => right === 1 && b[i] === 0).length;
  const onlyB = a.filter((right, i) => right === 0 && b[i] === 1).length;
  const n = onlyA + onlyB;
  let term = 0.5 ** n;
  let tail = term;
  for (let k = 1; k <= Math.min(onlyA, onlyB); k += 1) {
    term *= (n - k + 1) / k;
    tail += term;
  }
  return { p: Math.min(1, 2 * tail), onlyA, onlyB };
}
