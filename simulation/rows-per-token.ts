import type { RoutingMatrices } from '../routers/simulated.ts';

const SWEEPS = 10_000;
const TOLERANCE = 1e-14;

/**
 * Expected rows of each model per committed token, from the walk of one request over the models: its stationary
 * distribution over the tokens that a move commits on average.
 */
export function rowsPerToken({ routing, commits }: RoutingMatrices): number[] {
  let visits = routing.map(() => 1 / routing.length);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    // Half a step at a time: a walk that alternates between two models settles too.
    const next = visits.map(
      (visit, j) => visit / 2 + visits.reduce((sum, v, i) => sum + v * (routing[i]?.[j] ?? 0), 0) / 2,
    );
    const change = next.reduce((sum, v, j) => sum + Math.abs(v - (visits[j] ?? 0)), 0);
    visits = next;
    if (change < TOLERANCE) break;
  }
  const tokens = visits.reduce(
    (sum, visit, i) =>
      sum + visit * (routing[i] ?? []).reduce((inner, p, j) => inner + p * (commits[i]?.[j] ?? 0), 0),
    0,
  );
  return visits.map((visit) => visit / tokens);
}
