import { planEntry } from '../../scheduling/planner/index.ts';
import { TokenrailError } from '../../core/errors.ts';
import { bestThresholds, optimum, throughputOf, type ChainSpec } from '../../scheduling/throughput-model.ts';
import type { PolicyCase } from './cases.ts';

export interface ExactRow {
  name: string;
  eagerTokensPerSecond: number;
  thresholds: readonly number[];
  thresholdsTokensPerSecond: number;
  /** The best candidate, which is what the default takes, and what it gives. */
  default: string;
  defaultTokensPerSecond: number;
  /** Gain of the default over the best thresholds, in percent. */
  gainPercent: number;
  /** The same for the best of all policies; undefined where it is not computed. */
  optimumGainPercent?: number;
}

const gainPercent = (value: number, base: number): number => 100 * (value / base - 1);

/** One case, exactly, by the chain. */
export function exactRow({ name, system, concurrency }: PolicyCase): ExactRow {
  const { routing, commits, stepMs, overlapFactor } = system;
  const spec: ChainSpec = { routing, commits, stepMs, overlapFactor, concurrency };
  const best = bestThresholds(spec);
  const chosen = planEntry({ system, aliveMax: concurrency }, concurrency).candidates[0];
  const base = best.tokensPerSecond;
  const value = chosen?.tokensPerSecond ?? 0;
  const row: ExactRow = {
    name,
    eagerTokensPerSecond: throughputOf(
      spec,
      stepMs.map(() => 1),
    ).tokensPerSecond,
    thresholds: best.thresholds,
    thresholdsTokensPerSecond: base,
    default: chosen?.name ?? '',
    defaultTokensPerSecond: value,
    gainPercent: gainPercent(value, base),
  };
  try {
    return { ...row, optimumGainPercent: gainPercent(optimum(spec).tokensPerSecond, base) };
  } catch (thrown) {
    if (thrown instanceof TokenrailError && thrown.code === 'config_invalid') return row; // too large
    throw thrown;
  }
}
