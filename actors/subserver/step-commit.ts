import { TokenrailError } from '../../core/errors.ts';
import { STAY, type EndReason } from '../../core/request.ts';
import type { RowResult, SampledRow, SignalNeeds } from '../../engine/engine.ts';
import { chooseChecked, signalOf } from '../../routers/checked-hooks.ts';
import { routeChecked } from '../../routers/checked-router.ts';
import type { RouteRow, Router } from '../../routers/router.ts';
import { visibleSignals } from '../../routers/visible-signals.ts';
import type { PlannedRow } from './batch-planner.ts';
import type { SubserverContext } from './context.ts';
import { finishAtHome, forget, postTokens } from './ending.ts';
import { askRouter, failRequest, failSafely, routingScope } from './failing.ts';
import { handOff, postProgress } from './handoff.ts';
import { isHomeRequest } from './home-request.ts';
import type { LiveRequest } from './live-request.ts';
import { isReachable } from './reachable.ts';

interface Sampled {
  request: LiveRequest;
  result: SampledRow;
}

/** Applies the results of a step in the order of docs/architecture.md, “Order of a step”. */
export function commitStep(
  context: SubserverContext,
  rows: readonly PlannedRow[],
  results: readonly RowResult[],
): void {
  const startedMs = context.clock.nowMs();
  const sampledByRouter = new Map<string, Sampled[]>();
  rows.forEach((row, index) => {
    const sampled = settleRow(context, row, results[index]);
    if (!sampled) return;
    const group = sampledByRouter.get(sampled.request.init.router);
    if (group) group.push(sampled);
    else sampledByRouter.set(sampled.request.init.router, [sampled]);
  });
  for (const [routerId, sampled] of sampledByRouter) routeGroup(context, routerId, sampled);
  context.counters.add('commit_us', Math.round((context.clock.nowMs() - startedMs) * 1000));
}

/** Books the KV of a row. Returns what the router must look at: nothing if the prompt is not through yet. */
function settleRow(
  context: SubserverContext,
  row: PlannedRow,
  result: RowResult | undefined,
): Sampled | undefined {
  const { request } = row;
  if (request.isOver || request.visit !== row.visit) return undefined; // cancelled or superseded meanwhile
  if (!result?.ok) {
    const message = result?.message ?? 'the engine returned no result for this row';
    const error = new TokenrailError(result?.code ?? 'engine_failed', message);
    attempt(context, request, () => failRequest(context, request, error));
    return undefined;
  }
  request.kvLen = row.past + row.count;
  if (row.isComplete) return { request, result };
  context.counters.add('prefill_tokens', row.count);
  context.estimator.observeRow(context.options.self, 0);
  context.ready.push(request, context.clock.nowMs());
  return undefined;
}

/** One row's handling: what it throws fails this request, and the other rows of the step stand. */
function attempt(context: SubserverContext, request: LiveRequest, handle: () => void): void {
  try {
    handle();
  } catch (thrown) {
    failSafely(context, request, thrown);
  }
}

function routeGroup(context: SubserverContext, routerId: string, sampled: readonly Sampled[]): void {
  const router = context.routers.get(routerId);
  const startedMs = context.clock.nowMs();
  const rows: RouteRow[] = [];
  const routed: Sampled[] = [];
  for (const one of sampled) {
    attempt(context, one.request, () => {
      rows.push(routeRow(one, router?.needs ?? {}));
      routed.push(one);
    });
  }
  const routing = router && routeChecked(router, rows, routingScope(context));
  context.counters.add('route_us', Math.round((context.clock.nowMs() - startedMs) * 1000));
  routed.forEach((one, index) => {
    const { request } = one;
    const row = rows[index];
    attempt(context, request, () => {
      const failure = routing?.failures.get(index);
      if (failure) failRequest(context, request, failure);
      else if (router && routing && row)
        commitRow(context, router, { ...one, row }, routing.destinations[index] ?? STAY);
      else failRequest(context, request, new TokenrailError('router_failed', `router ${routerId} is gone`));
    });
  });
}

function routeRow({ request, result }: Sampled, needs: SignalNeeds): RouteRow {
  const { logSumExp } = result;
  return {
    rid: request.rid,
    position: request.tokens.length,
    numGenerated: request.numGenerated,
    sampled: result.sampled,
    logprob: result.logprob,
    entropyNats: result.entropyNats,
    normalizedEntropy: result.normalizedEntropy,
    sampling: request.init.sampling,
    tokens: request.tokens,
    numSinceArrival: request.numSinceArrival,
    ...(logSumExp === undefined ? {} : { logSumExp }),
    ...visibleSignals(needs, result),
    ...(request.algo ? { algo: request.algo } : {}),
  };
}

function commitRow(
  context: SubserverContext,
  router: Router,
  { request, result, row }: Sampled & { row: RouteRow },
  chosen: number,
): void {
  const signal = signalOf(router, row);
  const destination = chosen === STAY || isReachable(context, request, chosen) ? chosen : STAY;
  if (destination !== chosen) context.counters.add('handoffs_local');
  const mustKeep =
    request.role === 'guest' && request.numSinceArrival === 0 && !mayPassOn(context, router, destination);
  const token = askRouter(context, request, () => chooseChecked(router, row, context.info.vocabSize));
  if (token === undefined) return;
  const isKept = destination === STAY || router.onHandoff === 'keep' || mustKeep;
  context.tap?.row(request, result, { destination: chosen, token, isKept });
  if (!isKept) {
    request.held = { token, signal };
    context.estimator.observeRow(destination, 0);
    handOff(context, request, destination, { row });
    return;
  }
  const ended = commitOwn(context, request, token, signal);
  // Where one ends another begins, as far as batches go: at the home.
  const goesTo = ended === undefined ? destination : request.home.model;
  context.estimator.observeRow(goesTo === STAY ? context.options.self : goesTo, 1);
  if (ended !== undefined) endHere(context, request, ended);
  else if (destination !== STAY) handOff(context, request, destination, { row });
  else {
    if (request.role === 'guest') postProgress(context, request);
    context.ready.push(request, context.clock.nowMs());
  }
}

/**
 * A guest that has committed nothing yet keeps its token whatever the router says: every visit makes progress. The
 * exception are cascades, which pass on to a guest of a higher id only: without a token no request goes round.
 */
function mayPassOn(context: SubserverContext, router: Router, destination: number): boolean {
  const { self, deployment } = context.options;
  return router.passesOn === true && destination > self && destination !== deployment.home;
}

/** Commits one token of this model; at the home the client hears of it. */
export function commitOwn(
  context: SubserverContext,
  request: LiveRequest,
  token: number,
  signal: number,
): EndReason | undefined {
  const ended = request.append(token, context.options.self, signal);
  request.numSinceArrival += 1;
  request.held = undefined;
  context.counters.add('generation_tokens');
  if (isHomeRequest(request)) {
    context.counters.add('answer_tokens');
    postTokens(context, request, request.numGenerated - 1);
  }
  return ended;
}

/** The request ended with a token of this model: the home closes it, a guest reports home and frees its state. */
export function endHere(context: SubserverContext, request: LiveRequest, reason: EndReason): void {
  if (isHomeRequest(request)) {
    finishAtHome(context, request, reason);
    return;
  }
  handOff(context, request, request.home.model, { finished: reason });
  request.lifecycle.send({ type: 'FINISH', reason });
  forget(context, request);
}
