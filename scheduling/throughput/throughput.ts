import { buildChain, MAX_STATES, type Chain } from './build-chain.ts';
import { completeSpec, modelError, type ChainSpec, type CompleteSpec } from './chain-spec.ts';
import { measures } from './measures.ts';
import { thresholdStarter } from './starter.ts';
import { stationary } from './stationary.ts';

/** What a policy gives, by the throughput model. */
export interface Throughput {
  /** Committed tokens per second over all requests. */
  tokensPerSecond: number;
  /** States of the chain. */
  numStates: number;
  /** Rows of a step on average, per model; 0 where a model never runs. */
  meanRows: number[];
  /** Time from becoming ready to the start of the step that takes it, on average, per model, in milliseconds. */
  admissionDelayMs: number[];
  /** Share of the time during which a model runs. */
  utilisation: number[];
}

/** Solves a chain that a policy has built. @throws TokenrailError `internal` where it does not settle */
export function solveChain(spec: CompleteSpec, chain: Chain): Throughput {
  return { numStates: chain.numStates, ...measures(spec, chain, stationary(chain)) };
}

/**
 * The exact throughput of a threshold policy: T = Σ π R / Σ π τ over the embedded Markov chain at epochs, where
 * τ is the time to the next completion and R the tokens committed there. At an epoch all steps that end are
 * routed first; then every idle model i with at least thresholds[i] waiting starts with all of them.
 *
 * @throws TokenrailError `config_invalid` for a wrong specification, thresholds that deadlock; TooManyStatesError above
 *   `maxStates`
 */
export function throughputOf(
  spec: ChainSpec,
  thresholds: readonly number[],
  { maxStates = MAX_STATES }: { maxStates?: number } = {},
): Throughput {
  const complete = completeSpec(spec);
  checkThresholds(complete, thresholds);
  return solveChain(complete, buildChain(complete, thresholdStarter(complete, thresholds), maxStates));
}

function checkThresholds({ concurrency, stepMs }: CompleteSpec, thresholds: readonly number[]): void {
  const named = `thresholds ${thresholds.join(', ')}`;
  if (thresholds.length !== stepMs.length)
    throw modelError(`${named}: ${stepMs.length} models need one each`);
  if (thresholds.some((threshold) => !Number.isInteger(threshold) || threshold < 1))
    throw modelError(`${named} must be integers ≥ 1`);
  const held = thresholds.reduce((sum, threshold) => sum + threshold - 1, 0);
  if (held >= concurrency)
    throw modelError(`${named}: nobody could start, ${concurrency} requests wait below them`);
}
