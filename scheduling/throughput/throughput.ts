import { buildChain } from './build-chain.ts';
import { completeSpec, type ChainSpec } from './chain-spec.ts';
import { thresholdStarter } from './starter.ts';
import { stationary } from './stationary.ts';

export interface Throughput {
  /** Committed tokens per second over all requests. */
  tokensPerSecond: number;
  /** States of the chain. */
  numStates: number;
}

/**
 * The exact throughput of a threshold policy: T = Σ π R / Σ π τ over the embedded Markov chain at epochs, where
 * τ is the time to the next completion and R the tokens committed there. At an epoch all steps that end are
 * routed first; then every idle model i with at least thresholds[i] waiting starts with all of them.
 *
 * @throws TokenrailError `config_invalid` for a wrong specification, thresholds that deadlock, or too many states
 */
export function throughputOf(spec: ChainSpec, thresholds: readonly number[]): Throughput {
  const complete = completeSpec(spec);
  const chain = buildChain(complete, thresholdStarter(complete, thresholds));
  const pi = stationary(chain);
  let tokens = 0;
  let ticks = 0;
  for (let s = 0; s < chain.numStates; s += 1) {
    tokens += (pi[s] ?? 0) * (chain.tokens[s] ?? 0);
    ticks += (pi[s] ?? 0) * (chain.ticks[s] ?? 0);
  }
  return { tokensPerSecond: tokens / ((ticks * complete.quantumMs) / 1000), numStates: chain.numStates };
}

/** Everybody waits for everybody: N / (L0 + (1 − (1 − p)^N) L1) tokens per second, for two models. */
export function lockstepThroughput(
  stepMs: readonly [number, number],
  p: number,
  concurrency: number,
): number {
  return (1000 * concurrency) / (stepMs[0] + (1 - (1 - p) ** concurrency) * stepMs[1]);
}

/** Nobody ever waits: N / (L0 + p L1) tokens per second, an upper bound for two models. */
export function boundThroughput(stepMs: readonly [number, number], p: number, concurrency: number): number {
  return (1000 * concurrency) / (stepMs[0] + p * stepMs[1]);
}
