import { TokenrailError } from '../../core/errors.ts';

/** A closed system of models and requests: the Markov model of delayed batching (TokenRouter, arXiv 2610.12242). */
export interface ChainSpec {
  /** routing[i][j]: probability that a step at model i sends a request to model j; the diagonal is "stay". */
  routing: readonly (readonly number[])[];
  /** commits[i][j]: tokens that such a step commits. */
  commits: readonly (readonly number[])[];
  /** Step time of each model, in milliseconds: a constant, or by rows (index rows − 1, the last value beyond). */
  stepMs: readonly (number | readonly number[])[];
  /** Requests alive; a finished one is replaced at once. */
  concurrency: number;
  /** Length of a tick. Step times are rounded to ticks, one at least. Default 0.1 ms. */
  quantumMs?: number;
  /** Speed of each model while at least two run, in (0, 1]; 1 = devices of their own. Default 1. */
  overlapFactor?: number;
  /** Most rows of a step, per model; the rest waits on. Default: no limit. */
  maxNumSeqs?: readonly number[];
}

export type CompleteSpec = Required<ChainSpec>;

export const DEFAULT_QUANTUM_MS = 0.1;

export function modelError(what: string): TokenrailError {
  return new TokenrailError('config_invalid', `throughput model: ${what}`);
}

const SUM_TOLERANCE = 1e-9;

function checkMatrix(name: string, matrix: readonly (readonly number[])[], numModels: number): void {
  const isSquare = matrix.length === numModels && matrix.every((row) => row.length === numModels);
  if (!isSquare) throw modelError(`${name} must be ${numModels} × ${numModels}`);
  const isFine = (value: number): boolean => value >= 0 && Number.isFinite(value);
  if (!matrix.every((row) => row.every(isFine))) throw modelError(`${name} holds a number that is not ≥ 0`);
}

function checkStepMs(stepMs: ChainSpec['stepMs']): void {
  for (const table of stepMs) {
    const values = typeof table === 'number' ? [table] : table;
    if (values.length === 0) throw modelError('a table of step times is empty');
    if (values.some((ms) => !(ms > 0) || !Number.isFinite(ms)))
      throw modelError('step times must be positive');
  }
}

function checkLimits(spec: CompleteSpec): void {
  const { concurrency, quantumMs, overlapFactor, maxNumSeqs, stepMs } = spec;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw modelError('concurrency must be an integer ≥ 1');
  if (!(quantumMs > 0)) throw modelError('the quantum must be positive');
  if (!(overlapFactor > 0 && overlapFactor <= 1)) throw modelError('the overlap factor must be in (0, 1]');
  if (maxNumSeqs.length !== stepMs.length || maxNumSeqs.some((rows) => !(rows >= 1)))
    throw modelError('the largest step must be ≥ 1 row for each model');
}

/** @throws TokenrailError `config_invalid` naming what is wrong */
export function completeSpec(spec: ChainSpec): CompleteSpec {
  const complete: CompleteSpec = {
    ...spec,
    quantumMs: spec.quantumMs ?? DEFAULT_QUANTUM_MS,
    overlapFactor: spec.overlapFactor ?? 1,
    maxNumSeqs: spec.maxNumSeqs ?? spec.stepMs.map(() => Infinity),
  };
  const numModels = spec.stepMs.length;
  if (numModels < 1) throw modelError('no models');
  checkMatrix('routing', spec.routing, numModels);
  checkMatrix('commits', spec.commits, numModels);
  for (const [i, row] of spec.routing.entries()) {
    const sum = row.reduce((total, p) => total + p, 0);
    if (Math.abs(sum - 1) > SUM_TOLERANCE)
      throw modelError(`routing of model ${i + 1} sums to ${sum}, not 1`);
  }
  checkStepMs(spec.stepMs);
  checkLimits(complete);
  return complete;
}

/** Step lengths of one model by rows, in ticks; index 0 is unused, the last index is the largest step. */
export type StepTicks = readonly Int32Array[];

/** Step time of `rows` rows, in milliseconds, from a constant or a table by rows. */
export function stepMsOf(table: number | readonly number[], rows: number): number {
  if (typeof table === 'number') return table;
  return table[Math.min(rows, table.length) - 1] ?? 0;
}

/** Step lengths of all models, in whole ticks, one at least. */
export function stepTicks({ stepMs, quantumMs, concurrency, maxNumSeqs }: CompleteSpec): StepTicks {
  return stepMs.map((table, model) => {
    const rows = Math.min(concurrency, Math.floor(maxNumSeqs[model] ?? concurrency));
    return Int32Array.from({ length: rows + 1 }, (_, b) =>
      b === 0 ? 0 : Math.max(1, Math.round(stepMsOf(table, b) / quantumMs)),
    );
  });
}
