import type { TokenrailError } from '../../core/errors.ts';
import type { EndReason } from '../../core/request.ts';
import type { Finish, Release, Tokens } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import { isHomeRequest, type HomeRequest } from './home-request.ts';
import type { LiveRequest } from './live-request.ts';

/** home → gateway: generated tokens from `position` on. */
export function postTokens(context: SubserverContext, request: HomeRequest, position: number): void {
  const start = request.promptLen + position;
  const message: Tokens = {
    kind: 'tokens',
    rid: request.rid,
    term: request.clientTerm,
    position,
    ids: request.tokens.slice(start),
    origins: request.originsOf(start),
    replica: context.options.replica,
  };
  context.outbox.postDeferrable(context.subjects.gateway(request.gateway), message);
}

/** Ends a request at its home: the client learns why, guests free their state, KV goes back. */
export function finishAtHome(
  context: SubserverContext,
  request: HomeRequest,
  reason: EndReason,
  error?: TokenrailError,
): void {
  if (request.isOver) return;
  context.tap?.end(request, reason);
  const finish: Finish = {
    kind: 'finish',
    rid: request.rid,
    term: request.clientTerm,
    reason,
    usage: {
      promptTokens: request.promptLen,
      completionTokens: request.numGenerated,
      tokensByModel: request.tokensByModel(),
      handoffs: request.numHandoffs,
    },
    replica: context.options.replica,
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message } }),
  };
  context.outbox.post(context.subjects.gateway(request.gateway), finish);
  context.logger.debug({ rid: request.rid, reason, usage: finish.usage }, 'request ended');
  releaseGuests(context, request);
  context.table.remember(request.rid, {
    gateway: request.gateway,
    ids: request.tokens.slice(request.promptLen),
    origins: request.originsOf(request.promptLen),
    finish,
  });
  if (error) {
    context.counters.add('requests_failed');
    request.lifecycle.send({ type: 'FAIL', code: error.code });
  } else if (reason === 'abort') request.lifecycle.send({ type: 'ABORT', reason });
  else request.lifecycle.send({ type: 'FINISH', reason });
  context.counters.add('requests_finished');
  forget(context, request);
}

/** A guest whose replica is not known yet is released when its first answer arrives (inter-model-loop). */
function releaseGuests(context: SubserverContext, request: HomeRequest): void {
  for (const [model, replica] of request.peerReplicas) {
    postRelease(context, request.rid, request.term, model, replica);
  }
}

export function postRelease(
  context: SubserverContext,
  rid: string,
  term: number,
  model: number,
  replica: string,
): void {
  const message: Release = { kind: 'release', rid, term };
  context.outbox.post(context.subjects.replica(context.modelName(model), replica), message);
}

/** Frees a guest's state; `term` keeps late messages from bringing it back. */
export function releaseHere(context: SubserverContext, request: LiveRequest): void {
  if (request.isOver) return;
  request.lifecycle.send({ type: 'RELEASE' });
  forget(context, request);
}

/** Takes the request out of every list. KV of a row in flight goes back when its step ends. */
export function forget(context: SubserverContext, request: LiveRequest): void {
  if (request.isOver) return;
  request.isOver = true;
  if (isHomeRequest(request)) request.deadline?.cancel();
  request.lifecycle.stop();
  context.table.remove(request);
  context.ready.remove(request);
  if (!request.isInStep) freeKv(context, request);
  context.wake();
}

/** Gives the KV of a finished request back. */
export function freeKv(context: SubserverContext, request: LiveRequest): void {
  context.ledger.free(request.seq);
  context.engine.release([request.seq]);
}
