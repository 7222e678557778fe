import { bestThresholds, type ChainSpec } from '../../scheduling/throughput-model.ts';

export interface Predicted {
  thresholds: readonly number[];
  tokensPerSecond: number;
}

/** Ticks of the shorter step: fine enough for medians that are measured, coarse enough to be solved at once. */
const TICKS_PER_STEP = 20;

/** The best thresholds by the throughput model for what a calibration found. */
export function predictThresholds(spec: ChainSpec): Predicted {
  const shortestMs = Math.min(...spec.stepMs.flat());
  const { thresholds, tokensPerSecond } = bestThresholds({
    ...spec,
    quantumMs: Math.max(0.01, shortestMs / TICKS_PER_STEP),
  });
  return { thresholds, tokensPerSecond };
}
