import type { Router, RouteRow } from '../../routers/router.ts';
import { MARGIN } from './margin.ts';

/** The row with its signals moved by `by`. */
function moved(row: RouteRow, by: number): RouteRow {
  const scores = Object.entries(row.scores ?? {}).map(([file, score]) => [file, score + by] as const);
  return {
    ...row,
    normalizedEntropy: row.normalizedEntropy + by,
    ...(row.scores === undefined ? {} : { scores: Object.fromEntries(scores) }),
  };
}

/** How far a routing decision was from falling the other way: 0 within the margin of the comparison, else Infinity. */
export function routeDistance(router: Router, row: RouteRow): number {
  const destinations = [0, MARGIN, -MARGIN].map((by) => router.route([moved(row, by)])[0]);
  return new Set(destinations).size === 1 ? Infinity : 0;
}
