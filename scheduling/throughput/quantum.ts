import type { ChainSpec } from './chain-spec.ts';

/**
 * A tick that keeps chains small whatever the step times are: 1, 2 or 5 × 10^k ms, such that the longest step lasts
 * at most `maxTicks`. Rounding moves a step time by half a tick at most.
 *
 * @param maxTicks default 300: 0.1 ms for steps of up to 30 ms
 */
export function quantumFor(stepMs: ChainSpec['stepMs'], maxTicks = 300): number {
  const longestMs = Math.max(...stepMs.flatMap((table) => table));
  const least = longestMs / maxTicks;
  const decade = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * decade >= least * (1 - 1e-9)) ?? 10;
  return Number((factor * decade).toPrecision(1));
}
