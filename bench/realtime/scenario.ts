import { pair } from '../policies/cases.ts';
import { bestThresholds, throughputOf, type ChainSpec } from '../../scheduling/throughput-model.ts';

/** The reference pair's step times, small and large, in milliseconds; a scale multiplies both. */
const STEP_MS = [6, 27.9] as const;

export interface Scenario {
  concurrency: number;
  /** Probability that the small model hands a token to the large one. */
  p: number;
  /** Factor on the reference step times. */
  scale: number;
}

export const stepMsOf = ({ scale }: Scenario): [number, number] => [STEP_MS[0] * scale, STEP_MS[1] * scale];

/** "R2R as two models": the small model's token is discarded, the large one writes one token and returns. */
export function specOf(scenario: Scenario, p = scenario.p): ChainSpec {
  const { routing, commits } = pair(p);
  return {
    routing,
    commits,
    stepMs: stepMsOf(scenario),
    concurrency: scenario.concurrency,
    quantumMs: 0.1 * scenario.scale,
  };
}

export const bestOf = (scenario: Scenario): { thresholds: number[]; tokensPerSecond: number } => {
  const { thresholds, tokensPerSecond } = bestThresholds(specOf(scenario));
  return { thresholds, tokensPerSecond };
};

/** What a run lost or won by the luck of its routing draws: the prediction for the share it drew over that for p. */
export function luckOf(scenario: Scenario, thresholds: readonly number[], drawnShare: number): number {
  const at = (p: number): number => throughputOf(specOf(scenario, p), thresholds).tokensPerSecond;
  return at(drawnShare) / at(scenario.p);
}
