import { TokenrailError } from '../core/errors.ts';
import type { Router } from './router.ts';

/** The failure of a router on one request: the name of the router, what it did, what it threw. */
export function routerError(router: Router, problem: string, cause?: unknown): TokenrailError {
  return new TokenrailError('router_failed', `router ${router.name}: ${problem}`, { cause });
}

/** A value from foreign code, for a message: never runs code of that value. */
export function describeForeign(value: unknown): string {
  return typeof value === 'number' || typeof value === 'string' ? String(value) : typeof value;
}

/** Calls foreign code; whatever it throws becomes a `router_failed` that names router and hook. */
export function callHook<Result>(router: Router, hook: string, call: () => Result): Result {
  try {
    return call();
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : describeForeign(thrown);
    throw routerError(router, `${hook} threw: ${message}`, thrown);
  }
}
