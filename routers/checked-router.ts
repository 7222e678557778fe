import { toTokenrailError, type TokenrailError } from '../core/errors.ts';
import { STAY, type ModelId } from '../core/request.ts';
import { callHook, describeForeign, routerError } from './router-error.ts';
import type { RouteRow, Router } from './router.ts';

export interface CheckedRouting {
  /** One destination per row, 0 = stay; meaningless where the row failed. */
  destinations: Int32Array;
  /** By index of the row. */
  failures: Map<number, TokenrailError>;
}

/** The deployment as far as destinations go: models are 1..numModels. */
export interface RoutingScope {
  self: ModelId;
  numModels: number;
}

/** Calls `route` and checks the shape of what it returns. @throws TokenrailError `router_failed` */
function callRoute(router: Router, rows: readonly RouteRow[]): ArrayLike<unknown> {
  const result: unknown = callHook(router, 'route', () => router.route(rows));
  if (result instanceof Promise) {
    // Its rejection would be nobody's and end the process.
    result.catch(() => {});
    throw routerError(router, 'route returned a promise; it must be synchronous');
  }
  const length: unknown = (result as ArrayLike<unknown> | null | undefined)?.length;
  if (typeof result !== 'object' || length !== rows.length) {
    throw routerError(
      router,
      `route returned ${describeForeign(length)} destinations for ${rows.length} rows`,
    );
  }
  return result as ArrayLike<unknown>;
}

/** A destination that exists, with oneself as 0. @throws TokenrailError `router_failed` */
export function checkDestination(router: Router, destination: unknown, scope: RoutingScope): number {
  if (typeof destination !== 'number' || !Number.isInteger(destination)) {
    throw routerError(router, `destination ${describeForeign(destination)} is not an integer`);
  }
  if (destination < 0 || destination > scope.numModels) {
    throw routerError(router, `destination ${destination} is no model (0 to ${scope.numModels})`);
  }
  return destination === scope.self ? STAY : destination;
}

/**
 * Routes a step's rows so that a broken router costs only the requests it breaks on: a batch that throws or
 * has a wrong length is asked again row by row, and each destination is checked on its own. Never throws.
 */
export function routeChecked(router: Router, rows: readonly RouteRow[], scope: RoutingScope): CheckedRouting {
  const destinations = new Int32Array(rows.length);
  const failures = new Map<number, TokenrailError>();
  if (rows.length === 0) return { destinations, failures };
  let batch: ArrayLike<unknown> | undefined;
  let batchError: unknown;
  try {
    batch = callRoute(router, rows);
  } catch (error) {
    batchError = error;
  }
  rows.forEach((row, index) => {
    try {
      // A lone row is not asked twice: the router already failed on exactly this.
      if (batch === undefined && rows.length === 1) throw batchError;
      const destination = batch === undefined ? callRoute(router, [row])[0] : batch[index];
      destinations[index] = checkDestination(router, destination, scope);
    } catch (error) {
      failures.set(index, toTokenrailError(error, 'router_failed'));
    }
  });
  return { destinations, failures };
}
