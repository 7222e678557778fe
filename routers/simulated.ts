import type { ModelId } from '../core/request.ts';
import { STAY } from '../core/request.ts';
import { optionError } from './options.ts';
import type { Router, RouteRow, RouterContext } from './router.ts';

const NAME = 'simulated';

export type Matrix = readonly (readonly number[])[];

/** Probabilities and commits of a system of models, by model id − 1. */
export interface RoutingMatrices {
  /** routing[i][j]: probability that a row of model i + 1 goes to model j + 1; the diagonal is "stay". */
  routing: Matrix;
  /** commits[i][j]: tokens that such a row commits, 0 or 1. */
  commits: Matrix;
}

const SUM_TOLERANCE = 1e-9;

/** The next model of a row with signal `u` in [0, 1): leaving first, in the order of the ids, then staying. */
export function destinationOf(u: number, row: readonly number[], self: ModelId): ModelId {
  let sum = 0;
  for (let model = 1; model <= row.length; model += 1) {
    if (model === self) continue;
    sum += row[model - 1] ?? 0;
    if (u < sum) return model;
  }
  return STAY;
}

function readMatrix(context: RouterContext, name: 'routing' | 'commits'): Matrix {
  const value = context.options[name];
  const size = context.models.length;
  const isNumbers = (row: unknown): row is number[] =>
    Array.isArray(row) &&
    row.length === size &&
    row.every((entry) => typeof entry === 'number' && entry >= 0);
  if (!Array.isArray(value) || value.length !== size || !value.every(isNumbers))
    throw optionError(NAME, name, `must be a matrix of ${size} × ${size} numbers ≥ 0`);
  return value;
}

/**
 * What the commits of one model mean for its tokens when a request leaves it.
 * @throws TokenrailError `config_invalid` for commits that no router can have
 */
export function handoffRule(
  { routing, commits }: RoutingMatrices,
  self: ModelId,
  home: ModelId,
): Pick<Router, 'onHandoff' | 'passesOn'> {
  const fail = (problem: string): never => {
    throw optionError(NAME, 'commits', `row ${self}: ${problem}`);
  };
  const stays = (routing[self - 1]?.[self - 1] ?? 0) > 0;
  const used = (commits[self - 1] ?? []).flatMap((commit, j) =>
    (routing[self - 1]?.[j] ?? 0) > 0 ? [{ to: j + 1, commit }] : [],
  );
  if (used.some(({ commit }) => commit !== 0 && commit !== 1)) fail('must be 0 or 1');
  if (used.some(({ to, commit }) => to === self && commit !== 1)) fail('a row that stays commits 1');
  const away = used.filter(({ to }) => to !== self);
  if (self === home) {
    if (new Set(away.map(({ commit }) => commit)).size > 1) fail('the home discards for all or for none');
    return { onHandoff: away[0]?.commit === 0 ? 'discard' : 'keep' };
  }
  if (away.some(({ to, commit }) => to === home && commit === 0)) fail('a guest that returns commits 1');
  const passed = away.filter(({ commit }) => commit === 0);
  if (passed.length === 0) return { onHandoff: 'keep' };
  if (stays) fail('a guest that stays cannot also pass on without a token');
  if (passed.some(({ to }) => to < self)) fail('a guest passes on without a token to higher ids only');
  if (away.some(({ to, commit }) => to > self && to !== home && commit === 1))
    fail('a guest keeps or discards for all higher ids alike');
  return { onHandoff: 'discard', passesOn: true };
}

/** Where rows go, given the matrices of the moment. */
export function routeBy(matrices: () => RoutingMatrices, self: ModelId): Router['route'] {
  const one = (row: RouteRow): number =>
    destinationOf(row.normalizedEntropy, matrices().routing[self - 1] ?? [], self);
  return (rows) => rows.map(one);
}

/**
 * Routes by given probabilities, for simulated engines: the signal of a row is a uniform number, and the model's row
 * of `routing`, added up, says which destination it means. The load of the throughput model, and of real deployments
 * with `engine: simulated`.
 *
 * Options: `routing` (matrix of probabilities P[i][j], rows sum to 1), `commits` (matrix of 0 and 1).
 */
export function simulatedRouter(context: RouterContext): Router {
  for (const name of Object.keys(context.options)) {
    if (name !== 'routing' && name !== 'commits')
      throw optionError(NAME, name, 'is unknown; known: routing, commits');
  }
  const matrices = { routing: readMatrix(context, 'routing'), commits: readMatrix(context, 'commits') };
  matrices.routing.forEach((row, i) => {
    const sum = row.reduce((total, p) => total + p, 0);
    if (Math.abs(sum - 1) > SUM_TOLERANCE)
      throw optionError(NAME, 'routing', `row ${i + 1} sums to ${sum}, not 1`);
  });
  const { self, home } = context;
  return {
    name: NAME,
    needs: {},
    ...handoffRule(matrices, self, home),
    route: routeBy(() => matrices, self),
  };
}
