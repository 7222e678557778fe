import { toTokenrailError, type TokenrailError } from '../../core/errors.ts';
import type { RoutingScope } from '../../routers/checked-router.ts';
import { isWorthNoting } from '../../routers/failure-notices.ts';
import type { Router } from '../../routers/router.ts';
import type { SubserverContext } from './context.ts';
import { finishAtHome, forget } from './ending.ts';
import { isHomeRequest } from './home-request.ts';
import type { LiveRequest } from './live-request.ts';
import { postReject } from './refusal.ts';

/** One request fails, here or at the guest it visits; all others go on. */
export function failRequest(context: SubserverContext, request: LiveRequest, error: TokenrailError): void {
  if (request.isOver) return;
  if (error.code === 'router_failed') {
    context.counters.add('router_failures');
    noteRouterFailure(context, request, error);
  }
  if (isHomeRequest(request)) finishAtHome(context, request, 'error', error);
  else {
    postReject(context, request, error);
    request.lifecycle.send({ type: 'FAIL', code: error.code });
    forget(context, request);
  }
}

/** The client is told the message alone; whoever mends the router needs the stack, once. */
function noteRouterFailure(context: SubserverContext, request: LiveRequest, error: TokenrailError): void {
  const { rid, init } = request;
  const router = context.routers.get(init.router);
  if (!router || !isWorthNoting(router, error.message, context.clock.nowMs())) return;
  const err = error.cause ?? error; // of an error of ours the log keeps no stack
  context.logger.warn({ rid, router: init.router, problem: error.message, err }, 'a router failed a request');
}

/**
 * Fails the request with whatever was thrown on its behalf. For callers that nobody catches: if even that
 * fails, its state is freed, so that neither the loop nor memory is lost with it.
 */
export function failSafely(context: SubserverContext, request: LiveRequest, thrown: unknown): void {
  const error = toTokenrailError(thrown);
  context.logger.error({ rid: request.rid, err: thrown }, 'a request could not go on');
  try {
    failRequest(context, request, error);
  } catch (again) {
    context.logger.error({ rid: request.rid, err: again }, 'its failure could not be told');
    forget(context, request);
  }
}

/** Calls one of the router's hooks; what it throws fails the request, and nothing else. */
export function askRouter<T>(
  context: SubserverContext,
  request: LiveRequest,
  hook: (router: Router) => T,
): T | undefined {
  const router = context.routers.get(request.init.router);
  if (!router) return undefined; // admission accepts only routers that exist
  try {
    return hook(router);
  } catch (thrown) {
    failRequest(context, request, toTokenrailError(thrown, 'router_failed'));
    return undefined;
  }
}

export function routingScope(context: SubserverContext): RoutingScope {
  return { self: context.options.self, numModels: context.options.deployment.models.length };
}
