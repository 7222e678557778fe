import { STAY, type ModelId, type SamplingParams } from '../core/request.ts';
import type { RoutingScope } from './checked-router.ts';
import { checkDestination } from './checked-router.ts';
import { defaultReceive, defaultSend } from './default-hooks.ts';
import { callHook, describeForeign, routerError } from './router-error.ts';
import type { Incoming, ReceivePlan, RouteRow, Router, SendPlan, SequenceView } from './router.ts';

/**
 * Where the router wants the request to begin; 0 = at the home.
 * @throws TokenrailError `router_failed` where the hook throws or names no model
 */
export function firstChecked(
  router: Router,
  view: SequenceView,
  sampling: SamplingParams,
  scope: RoutingScope,
): number {
  if (router.first === undefined) return STAY;
  return checkDestination(
    router,
    callHook(router, 'first', () => router.first?.(view, sampling)),
    scope,
  );
}

/**
 * The handoff that the router makes of the sequence.
 * @throws TokenrailError `router_failed` where the hook throws or its plan is no part of the sequence
 */
export function sendChecked(router: Router, view: SequenceView, to: ModelId, row?: RouteRow): SendPlan {
  if (router.send === undefined) return defaultSend(view, to);
  const plan = callHook(router, 'send', () => router.send?.(view, to, row));
  if (!Number.isInteger(plan?.loc) || !Array.isArray(plan?.suffix)) {
    throw routerError(router, 'send must return { suffix, loc }');
  }
  const { suffix, loc } = plan;
  const start = loc - suffix.length;
  const isPart =
    start >= 0 && loc <= view.tokens.length && suffix.every((id, i) => id === view.tokens[start + i]);
  if (!isPart)
    throw routerError(router, `send returned a suffix that does not end the sequence's first ${loc} tokens`);
  return plan;
}

/**
 * The token that the router has the row write.
 * @throws TokenrailError `router_failed` where the hook throws or names no token of the vocabulary
 */
export function chooseChecked(router: Router, row: RouteRow, vocabSize: number): number {
  if (router.choose === undefined) return row.sampled;
  const token: unknown = callHook(router, 'choose', () => router.choose?.(row));
  if (typeof token === 'number' && Number.isInteger(token) && token >= 0 && token < vocabSize) return token;
  throw routerError(router, `choose returned ${describeForeign(token)}, no token (0 to ${vocabSize - 1})`);
}

/**
 * What the router makes of a handoff that came in.
 * @throws TokenrailError `router_failed` where the hook throws or returns no plan
 */
export function receiveChecked(router: Router, view: SequenceView, incoming: Incoming): ReceivePlan {
  if (router.receive === undefined) return defaultReceive(view, incoming);
  const plan = callHook(router, 'receive', () => router.receive?.(view, incoming));
  const isPlan =
    (plan?.kind === 'append' && Array.isArray(plan.tokens) && plan.tokens.every(Number.isInteger)) ||
    (plan?.kind === 'gap' && Number.isInteger(plan.have)) ||
    (plan?.kind === 'conflict' && Number.isInteger(plan.position));
  if (!isPlan) throw routerError(router, 'receive must return an append, gap or conflict plan');
  return plan;
}

/** The row's signal for the client. Only for show: a hook that throws or returns no number gives NaN. */
export function signalOf(router: Router, row: RouteRow): number {
  if (router.signal === undefined) return row.normalizedEntropy;
  try {
    const signal: unknown = router.signal(row);
    return typeof signal === 'number' ? signal : NaN;
  } catch {
    return NaN;
  }
}
