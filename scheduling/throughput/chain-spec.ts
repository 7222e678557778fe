import { TokenrailError } from '../../core/errors.ts';

/** A closed system of models and requests: the Markov model of delayed batching (TokenRouter, arXiv 2610.12242). */
export interface ChainSpec {
  /** routing[i][j]: probability that a step at model i sends a request to model j; the diagonal is "stay". */
  routing: readonly (readonly number[])[];
  /** commits[i][j]: tokens that such a step commits. */
  commits: readonly (readonly number[])[];
  /** Step time of each model, in milliseconds. */
  stepMs: readonly number[];
  /** Requests alive; a finished one is replaced at once. */
  concurrency: number;
  /** Length of a tick. Step times are rounded to ticks, one at least. Default 0.1 ms. */
  quantumMs?: number;
  /** Speed of each model while at least two run, in (0, 1]; 1 = devices of their own. Default 1. */
  overlapFactor?: number;
}

export type CompleteSpec = Required<ChainSpec>;

function wrong(what: string): TokenrailError {
  return new TokenrailError('config_invalid', `throughput model: ${what}`);
}

const SUM_TOLERANCE = 1e-9;

/** @throws TokenrailError `config_invalid` naming what is wrong */
export function completeSpec(spec: ChainSpec): CompleteSpec {
  const { routing, commits, stepMs, concurrency, quantumMs = 0.1, overlapFactor = 1 } = spec;
  const numModels = stepMs.length;
  if (numModels < 1) throw wrong('no models');
  for (const [name, matrix] of [['routing', routing] as const, ['commits', commits] as const]) {
    const isSquare = matrix.length === numModels && matrix.every((row) => row.length === numModels);
    if (!isSquare) throw wrong(`${name} must be ${numModels} × ${numModels}`);
    if (matrix.some((row) => row.some((value) => !(value >= 0))))
      throw wrong(`${name} holds a negative number`);
  }
  for (const [i, row] of routing.entries()) {
    const sum = row.reduce((total, p) => total + p, 0);
    if (Math.abs(sum - 1) > SUM_TOLERANCE) throw wrong(`routing of model ${i + 1} sums to ${sum}, not 1`);
  }
  if (stepMs.some((ms) => !(ms > 0) || !Number.isFinite(ms))) throw wrong('step times must be positive');
  if (!Number.isInteger(concurrency) || concurrency < 1) throw wrong('concurrency must be an integer ≥ 1');
  if (!(quantumMs > 0)) throw wrong('the quantum must be positive');
  if (!(overlapFactor > 0 && overlapFactor <= 1)) throw wrong('the overlap factor must be in (0, 1]');
  return { routing, commits, stepMs, concurrency, quantumMs, overlapFactor };
}

/** Step lengths in ticks, one at least. */
export function stepTicks({ stepMs, quantumMs }: CompleteSpec): number[] {
  return stepMs.map((ms) => Math.max(1, Math.round(ms / quantumMs)));
}
