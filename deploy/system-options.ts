import { readFileSync } from 'node:fs';
import { TokenrailError } from '../core/errors.ts';
import { splitList } from './config/text-forms.ts';

/** A system of models as `tokenrail tune` and `tokenrail simulate` are told about it, in texts of the command line. */
export interface SystemText {
  /** `a,b[,c…]`: step time of each model, in milliseconds. */
  stepMs?: string | undefined;
  /** `x` for two models, `p1,p2,q` for three. */
  p?: string | undefined;
  /** JSON file `{"P": …, "C": …}`, instead of `p`. */
  routing?: string | undefined;
}

export interface SystemOptions {
  /** routing[i][j]: probability that a step at model i sends a request to model j. */
  routing: number[][];
  /** commits[i][j]: tokens that such a step commits. */
  commits: number[][];
  /** Step time of each model, in milliseconds. */
  stepMs: number[];
}

export function flagError(flag: string, problem: string, cause?: unknown): TokenrailError {
  return new TokenrailError('config_invalid', `${flag}: ${problem}`, { param: flag, cause });
}

/** What a number on the command line may be. */
export interface NumberLimits {
  /** Least value; with `isMinExcluded` it must be greater. */
  min?: number;
  isMinExcluded?: boolean;
  max?: number;
  isInteger?: boolean;
}

/** Steps below the resolution of clocks, or longer than a request lives, are slips of a unit. */
const STEP_LIMITS_MS: NumberLimits = { min: 0.001, max: 60_000 };

/** A number of the command line. @throws TokenrailError `config_invalid` naming the flag */
export function numberFlag(flag: string, text: string, limits: NumberLimits = {}): number {
  const { min = -Infinity, isMinExcluded = false, max = Infinity, isInteger = false } = limits;
  const value = text.trim() === '' ? NaN : Number(text);
  const isAbove = isMinExcluded ? value > min : value >= min;
  if (Number.isFinite(value) && isAbove && value <= max && (!isInteger || Number.isInteger(value)))
    return value;
  const bounds = [
    ...(min === -Infinity ? [] : [`${isMinExcluded ? '>' : '≥'} ${min}`]),
    ...(max === Infinity ? [] : [`≤ ${max}`]),
  ].join(' and ');
  const wanted = `${isInteger ? 'an integer' : 'a number'}${bounds === '' ? '' : ` ${bounds}`}`;
  throw flagError(flag, `expected ${wanted}, got "${text}"`);
}

/**
 * The system that `--step-ms` and `--p` or `--routing` describe.
 * @throws TokenrailError `config_invalid` naming the flag, or the key of the file
 */
export function parseSystem(text: SystemText): SystemOptions {
  if (text.stepMs === undefined) throw flagError('--step-ms', 'is required, like 6.0,27.9');
  const stepMs = splitList(text.stepMs).map((part) => numberFlag('--step-ms', part, STEP_LIMITS_MS));
  if (stepMs.length === 0) throw flagError('--step-ms', 'is empty');
  if (text.p !== undefined && text.routing !== undefined)
    throw flagError('--routing', 'stands in place of --p, not beside it');
  if (text.routing !== undefined) return { ...readRouting(text.routing, stepMs.length), stepMs };
  if (text.p === undefined) throw flagError('--p', 'is required (or --routing), like 0.35');
  return { ...standardRouting(text.p, stepMs.length), stepMs };
}

/** Two models: one token at the large one and back. Three: a cascade in which the second may pass on to the third. */
function standardRouting(text: string, numModels: number): Omit<SystemOptions, 'stepMs'> {
  const parts = splitList(text).map((part) => numberFlag('--p', part, { min: 0, max: 1 }));
  const [p1 = 0, p2 = 0, q = 0] = parts;
  const expected = numModels === 3 ? 3 : 1;
  if (numModels < 2 || numModels > 3)
    throw flagError('--p', `describes two or three models; use --routing for ${numModels}`);
  if (parts.length !== expected)
    throw flagError(
      '--p',
      `${numModels} models need ${expected === 1 ? 'one number' : 'p1,p2,q'}, got "${text}"`,
    );
  if (numModels === 2) return { routing: [[1 - p1, p1], [1, 0]], commits: committed(2) }; // prettier-ignore
  if (p1 + p2 > 1) throw flagError('--p', `p1 + p2 must be ≤ 1, got ${p1 + p2}`);
  // 1 − 0.9 − 0.1 is less than 0.
  return { routing: [[1 - (p1 + p2), p1, p2], [1 - q, 0, q], [1, 0, 0]], commits: committed(3) }; // prettier-ignore
}

/** A token counts when its writer hands back to (or stays at) the first model. */
function committed(numModels: number): number[][] {
  const models = Array.from({ length: numModels }, (_, model) => model);
  return models.map(() => models.map((to) => (to === 0 ? 1 : 0)));
}

function readRouting(path: string, numModels: number): Omit<SystemOptions, 'stepMs'> {
  const file = parseFile(path);
  const unknown = Object.keys(file).find((key) => key !== 'P' && key !== 'C');
  if (unknown !== undefined) throw flagError('--routing', `${path}: unknown key "${unknown}"; known: P, C`);
  const routing = matrixOf(path, 'P', file['P'], numModels);
  const commits = matrixOf(path, 'C', file['C'], numModels);
  for (const [i, row] of routing.entries()) {
    const sum = row.reduce((total, value) => total + value, 0);
    if (Math.abs(sum - 1) > 1e-6)
      throw flagError('--routing', `${path}: row ${i + 1} of P sums to ${sum}, not 1`);
    routing[i] = row.map((value) => value / sum);
  }
  checkCommits(path, routing, commits);
  return { routing, commits };
}

/** More tokens per step than this are a slip, and strain the precision of predictions. */
const MAX_COMMITS = 1000;

/** From every model that requests can reach, a token is written sooner or later: else they would go round for ever. */
function checkCommits(path: string, routing: readonly number[][], commits: readonly number[][]): void {
  const models = routing.map((_, i) => i);
  if (commits.flat().some((tokens) => tokens > MAX_COMMITS))
    throw flagError('--routing', `${path}: C holds a number > ${MAX_COMMITS}`);
  const goesTo = (i: number, j: number): boolean => (routing[i]?.[j] ?? 0) > 0;
  const from = (start: number): Set<number> => {
    const seen = new Set([start]);
    for (const i of seen) for (const j of models) if (goesTo(i, j)) seen.add(j);
    return seen;
  };
  const writes = (i: number): boolean => models.some((j) => goesTo(i, j) && (commits[i]?.[j] ?? 0) > 0);
  for (const i of from(0))
    if (![...from(i)].some(writes))
      throw flagError('--routing', `${path}: requests at model ${i + 1} never commit a token any more`);
}

function parseFile(path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw flagError('--routing', `${path}: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw flagError('--routing', `${path}: expected an object with P and C`);
  return value as Record<string, unknown>;
}

function matrixOf(path: string, key: string, value: unknown, numModels: number): number[][] {
  const isRow = (row: unknown): boolean =>
    Array.isArray(row) &&
    row.length === numModels &&
    row.every((x) => typeof x === 'number' && Number.isFinite(x) && x >= 0);
  if (Array.isArray(value) && value.length === numModels && value.every(isRow)) return value as number[][];
  throw flagError(
    '--routing',
    `${path}: ${key} must be ${numModels} rows of ${numModels} numbers ≥ 0, one per model of --step-ms`,
  );
}
