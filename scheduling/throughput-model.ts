/**
 * The throughput model of delayed batching: exact predictions for a closed system of models, by a Markov chain at the
 * instants at which steps end (docs/scheduling.md). Solving takes milliseconds to seconds: never on a thread that
 * serves messages.
 */
import { createPolicy } from './create-policy.ts';
import type { StartPolicy } from './policy.ts';
import type { ChainSpec } from './throughput/chain-spec.ts';
import { MAX_OPTIMUM_NODES, optimum as optimumFrom } from './throughput/optimum.ts';
import type { Throughput } from './throughput/throughput.ts';

export { bestThresholds, type BestThresholds } from './throughput/best-thresholds.ts';
export { boundThroughput, lockstepThroughput } from './throughput/bounds.ts';
export { MAX_STATES, TooManyStatesError } from './throughput/build-chain.ts';
export { DEFAULT_QUANTUM_MS, type ChainSpec } from './throughput/chain-spec.ts';
export { quantumFor } from './throughput/quantum.ts';
export { throughputOf, type Throughput } from './throughput/throughput.ts';
export { throughputOfPolicies } from './throughput/throughput-of-policies.ts';

/** What {@link optimum} may be told. */
export interface OptimumSettings {
  /** Policies to begin with, one per model; good ones save rounds. Default: look-ahead everywhere. */
  policies?: readonly StartPolicy[];
  /** Choices above which it is not computed. Default 1,500,000: a minute or so. */
  maxNodes?: number;
}

/**
 * The best that any policy "start now with everything, or wait" can do, by policy iteration; for small systems.
 * @throws TokenrailError `config_invalid` for a wrong specification; {@link TooManyStatesError} above `maxNodes`
 */
export function optimum(spec: ChainSpec, settings: OptimumSettings = {}): Throughput {
  const policies = settings.policies ?? spec.stepMs.map(() => createPolicy({ kind: 'look-ahead' }));
  return optimumFrom(spec, { policies, maxNodes: settings.maxNodes ?? MAX_OPTIMUM_NODES });
}
