import { TokenrailError } from '../../core/errors.ts';
import { STAY } from '../../core/request.ts';
import { firstChecked } from '../../routers/checked-hooks.ts';
import type { Abort, Admit, Admitted, NeedsPrefix } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import { finishAtHome, postTokens } from './ending.ts';
import { askRouter, routingScope } from './failing.ts';
import { guarded } from './guarded.ts';
import { handOff } from './handoff.ts';
import { HomeRequest } from './home-request.ts';
import { refuse } from './admission.ts';
import { postRefusal } from './refusal.ts';
import { isReachable } from './reachable.ts';

/** Loop 1, gateway ↔ home: admission, streaming, cancel. */
export class ClientLoop {
  private readonly context: SubserverContext;
  private readonly isServing: () => boolean;

  constructor(context: SubserverContext, isServing: () => boolean) {
    this.context = context;
    this.isServing = isServing;
  }

  /** Idempotent: an Admit that is repeated is answered again and changes nothing. */
  admit(message: Admit, reply: string | undefined): void {
    const { table } = this.context;
    if (reply === undefined) {
      this.context.counters.add('dropped_messages');
      return;
    }
    const isKnown = table.home(message.rid) !== undefined || table.recall(message.rid) !== undefined;
    if (!isKnown) {
      const refusal = this.refusal(message);
      if (refusal) {
        postRefusal(this.context, { rid: message.rid, term: message.term, hop: 0 }, reply, refusal);
        return;
      }
    }
    const { self: model, replica } = this.context.options;
    const admitted: Admitted = { kind: 'admitted', rid: message.rid, term: message.term, model, replica };
    this.context.outbox.post(reply, admitted);
    if (!isKnown) this.begin(message);
  }

  abort(message: Abort): void {
    const request = this.context.table.home(message.rid);
    if (!request || message.term !== request.clientTerm) {
      this.context.counters.add('stale_messages');
      return;
    }
    if (message.at !== undefined) request.truncate(request.promptLen + message.at);
    const error =
      message.reason === 'deadline'
        ? new TokenrailError('deadline_exceeded', 'the request did not finish within its deadline')
        : undefined;
    finishAtHome(this.context, request, message.reason, error);
  }

  /** The gateway misses tokens, or asks whether this home still lives. */
  resync(message: NeedsPrefix): void {
    const request = this.context.table.home(message.rid);
    if (request) {
      postTokens(this.context, request, Math.min(message.have, request.numGenerated));
      return;
    }
    const record = this.context.table.recall(message.rid);
    const gateway = record?.gateway ?? message.fromReplica;
    const subject = this.context.subjects.gateway(gateway);
    if (!record) {
      this.postUnknown(message, subject);
      return;
    }
    const { ids, origins, finish } = record;
    const position = Math.min(message.have, ids.length);
    this.context.outbox.post(subject, {
      kind: 'tokens',
      rid: message.rid,
      term: finish.term,
      position,
      ids: ids.slice(position),
      origins: { models: origins.models.slice(position), signals: origins.signals.slice(position) },
      replica: this.context.options.replica,
    });
    this.context.outbox.post(subject, finish);
  }

  private refusal(message: Admit): TokenrailError | undefined {
    if (!this.isServing()) return new TokenrailError('shutting_down', 'this replica takes no new requests');
    const { self, deployment } = this.context.options;
    if (self !== deployment.home) {
      return new TokenrailError('invalid_request', 'this model is not the home of the deployment');
    }
    return refuse(this.context, message.init, message.tokens);
  }

  private begin(message: Admit): void {
    const { context } = this;
    const { self: model, replica } = context.options;
    const request = new HomeRequest({
      rid: message.rid,
      seq: context.table.takeSeq(),
      init: message.init,
      home: { model, replica },
      tokens: message.tokens,
      gateway: message.gateway,
      clientTerm: message.term,
    });
    context.table.add(request);
    context.counters.add('requests_admitted');
    context.logger.debug({ rid: request.rid, promptTokens: request.promptLen }, 'request admitted');
    if (message.deadlineMs !== undefined) {
      request.deadline = context.clock.setTimer(message.deadlineMs, () => this.onDeadline(request));
    }
    const { ended } = request;
    if (ended !== undefined) {
      finishAtHome(context, request, ended); // moved here after its last token, before its end was told
      return;
    }
    const first = askRouter(context, request, (router) =>
      firstChecked(router, request, message.init.sampling, routingScope(context)),
    );
    if (first === STAY || (first !== undefined && !isReachable(context, request, first)))
      context.ready.push(request, context.clock.nowMs());
    else if (first !== undefined) handOff(context, request, first);
    context.wake();
  }

  private onDeadline(request: HomeRequest): void {
    const error = new TokenrailError('deadline_exceeded', 'the request did not finish within its deadline');
    guarded(this.context.logger, 'deadline', () => finishAtHome(this.context, request, 'deadline', error));
    this.context.outbox.flush();
  }

  /** This home never heard of the request, or too long ago: the gateway must know that nothing will come. */
  private postUnknown(message: NeedsPrefix, subject: string): void {
    this.context.outbox.post(subject, {
      kind: 'finish',
      rid: message.rid,
      term: message.term,
      reason: 'error',
      usage: { promptTokens: 0, completionTokens: 0, tokensByModel: [], handoffs: 0 },
      error: { code: 'model_unavailable', message: 'the home of this request lost it' },
      replica: this.context.options.replica,
    });
  }
}
