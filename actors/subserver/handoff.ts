import { TokenrailError } from '../../core/errors.ts';
import type { EndReason, ModelId } from '../../core/request.ts';
import { sendChecked } from '../../routers/checked-hooks.ts';
import type { AlgoFields, Router, RouteRow, SendPlan } from '../../routers/router.ts';
import { invalidAlgoField } from '../../transport/wire/algo-fields.ts';
import type { PeerReq, Progress } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import { askRouter } from './failing.ts';
import { isHomeRequest } from './home-request.ts';
import type { LiveRequest } from './live-request.ts';
import type { Destination } from './peer-inboxes.ts';

/** Where messages to a model go: its known replica, else any replica of it. */
export function peerSubject(context: SubserverContext, request: LiveRequest, model: ModelId): string {
  const name = context.modelName(model);
  const replica = request.peerReplicas.get(model);
  return replica === undefined ? context.subjects.model(name) : context.subjects.replica(name, replica);
}

/** What the router sends. Receivers would drop fields they cannot read, and the whole handoff with them. */
function sendableOf(router: Router, request: LiveRequest, to: ModelId, row?: RouteRow): SendPlan {
  const plan = sendChecked(router, request, to, row);
  const field = plan.algo === undefined ? undefined : invalidAlgoField(plan.algo);
  if (field === undefined) return plan;
  throw new TokenrailError(
    'router_failed',
    `router ${router.name}: send returned an unusable field "${field}"`,
  );
}

/** What a handoff follows from. */
export interface HandoffCause {
  finished?: EndReason;
  lost?: Destination;
  /** The row that leaves. */
  row?: RouteRow;
  /** Fields of the handoff that this one takes the place of. */
  algo?: AlgoFields | undefined;
}

/** Sends the request away: suffix, hop, machine to `pending`. Its KV stays (handoff-resume). */
export function handOff(
  context: SubserverContext,
  request: LiveRequest,
  to: ModelId,
  because: HandoffCause = {},
): void {
  const plan = askRouter(context, request, (router) => sendableOf(router, request, to, because.row));
  if (!plan) return;
  request.hop += 1;
  if (isHomeRequest(request)) request.numHandoffs += 1;
  request.peerLocs.set(to, plan.loc);
  request.lastSent = {
    to,
    start: plan.loc - plan.suffix.length,
    loc: plan.loc,
    algo: plan.algo ?? because.algo,
    sentAtMs: context.clock.nowMs(),
    attempts: 1,
    lost: because.lost,
  };
  request.lifecycle.send({ type: 'HANDOFF', to });
  context.counters.add('handoffs_sent');
  if (because.finished === undefined) context.beacons.handedTo(to, request.peerReplicas.get(to));
  postHandoff(context, request, request.lastSent.start, because.finished);
  if (request.role === 'guest' && to !== request.home.model) postProgress(context, request);
}

/** Says the last handoff (again), with the suffix from `start` up to what it was sent with. */
export function postHandoff(
  context: SubserverContext,
  request: LiveRequest,
  start: number,
  finished?: EndReason,
): void {
  const sent = request.lastSent;
  if (!sent) return;
  const { self, replica } = context.options;
  const isForGuest = sent.to !== request.home.model;
  const knowsMany = context.options.deployment.models.length > 2;
  const message: PeerReq = {
    kind: 'peer-req',
    rid: request.rid,
    term: request.term,
    hop: request.hop,
    from: self,
    fromReplica: replica,
    to: sent.to,
    suffix: request.tokens.slice(start, sent.loc),
    loc: sent.loc,
    home: request.home,
    ...(finished === undefined ? {} : { finished }),
    ...(start === 0 && isForGuest ? { init: request.init } : {}),
    ...(knowsMany ? { locs: peerLocs(context, request) } : {}),
    ...(isForGuest && !knowsMany ? {} : { origins: request.originsOf(start, sent.loc) }),
    ...(sent.algo === undefined ? {} : { algo: sent.algo }),
  };
  const reply = context.inboxes.for(sent.to, request.peerReplicas.get(sent.to));
  const subject = peerSubject(context, request, sent.to);
  if (request.peerReplicas.has(sent.to)) context.outbox.post(subject, message, reply);
  else context.outbox.postAlone(subject, message, reply);
}

function peerLocs(context: SubserverContext, request: LiveRequest): PeerReq['locs'] {
  const entry = (model: ModelId, loc: number, replica: string | undefined) =>
    replica === undefined ? { model, loc } : { model, loc, replica };
  const locs = [...request.peerLocs].map(([model, loc]) =>
    entry(model, loc, request.peerReplicas.get(model)),
  );
  const { self, replica } = context.options;
  const lost = request.lastSent?.lost;
  return [
    ...locs.filter(({ model }) => model !== lost?.model),
    ...(lost === undefined ? [] : [entry(lost.model, 0, lost.replica)]),
    { model: self, loc: request.tokens.length, replica },
  ];
}

/** guest → home: everything committed since `start`, by default since the last report. */
export function postProgress(
  context: SubserverContext,
  request: LiveRequest,
  start = request.peerLocs.get(request.home.model) ?? 0,
): void {
  const { home, tokens } = request;
  const message: Progress = {
    kind: 'progress',
    rid: request.rid,
    term: request.term,
    hop: request.hop,
    from: context.options.self,
    fromReplica: context.options.replica,
    suffix: tokens.slice(start),
    loc: tokens.length,
    origins: request.originsOf(start),
  };
  request.peerLocs.set(home.model, tokens.length);
  const reply = context.inboxes.for(home.model, home.replica);
  context.outbox.post(context.subjects.replica(context.modelName(home.model), home.replica), message, reply);
}
