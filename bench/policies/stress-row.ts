import { planEntry, type Candidate } from '../../scheduling/planner/index.ts';
import { createPolicy, type PolicySpec } from '../../scheduling/index.ts';
import { samplePolicies, type SampleSpec } from '../../scheduling/throughput/sample.ts';
import type { PolicyCase, Stress } from './cases.ts';

export interface StressRow {
  case: string;
  stress: string;
  /** Simulated throughput of the best thresholds, and its standard error, in tokens/s. */
  thresholdsTokensPerSecond: number;
  standardError: number;
  /** Simulated gain over them in percent, by candidate; the candidates are those of a plan that knows only p and L. */
  gainPercent: Record<string, number>;
}

const DRAIN = { minTokens: 64, maxTokens: 1024 };
/** Seeds of a drain: each is one short run. */
const NUM_DRAINS = 20;

/** How each candidate of the unstressed plan fares where the model is wrong. */
export function stressRow(testCase: PolicyCase, stress: Stress, tokens: number): StressRow {
  const { system, concurrency } = testCase;
  const { candidates } = planEntry({ system, aliveMax: concurrency }, concurrency);
  const spec: SampleSpec = {
    ...{ routing: system.routing, commits: system.commits, stepMs: system.stepMs, concurrency },
    ...(stress.runLengths ? { runLengths: stress.runLengths } : {}),
    ...(stress.jitter ? { jitter: system.stepMs.map(() => stress.jitter ?? 0) } : {}),
  };
  const run = (policies: readonly PolicySpec[]): { rate: number; error: number } => {
    const made = policies.map((policy) => createPolicy(policy));
    if (stress.isDrain) return drains(spec, made);
    const sample = samplePolicies(spec, made, { tokens });
    return { rate: sample.tokensPerSecond, error: sample.standardError };
  };
  const isThreshold = ({ name }: Candidate): boolean => name.startsWith('threshold(');
  const base = run(
    (candidates.find(isThreshold) ?? candidates.find(({ name }) => name === 'eager'))?.policies ?? [],
  );
  const gains = candidates.map(({ name, policies }): [string, number] => [
    name,
    100 * (run(policies).rate / base.rate - 1),
  ]);
  return {
    ...{ case: testCase.name, stress: stress.name, gainPercent: Object.fromEntries(gains) },
    ...{ thresholdsTokensPerSecond: base.rate, standardError: base.error },
  };
}

/** Tokens per second over some drains; the candidates keep the thresholds that were made for all requests. */
function drains(
  spec: SampleSpec,
  policies: Parameters<typeof samplePolicies>[1],
): { rate: number; error: number } {
  let tokens = 0;
  let simulatedMs = 0;
  for (let seed = 1; seed <= NUM_DRAINS; seed += 1) {
    const sample = samplePolicies({ ...spec, drain: DRAIN }, policies, { seed });
    tokens += sample.tokens;
    simulatedMs += sample.simulatedMs;
  }
  return { rate: (1000 * tokens) / simulatedMs, error: 0 };
}
