import { isErrorCode, TokenrailError, type ErrorCode } from '../../core/errors.ts';
import type { EndReason, ModelId } from '../../core/request.ts';
import { receiveChecked } from '../../routers/checked-hooks.ts';
import type { AlgoFields } from '../../routers/router.ts';
import type { Admitted, PeerLoc, PeerReq, Progress, Reject, TokenOrigins } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import { finishAtHome, postRelease, postTokens } from './ending.ts';
import { usablePlan } from './admission.ts';
import { askRouter } from './failing.ts';
import { handOff, postHandoff } from './handoff.ts';
import type { HomeRequest } from './home-request.ts';
import { isReachable } from './reachable.ts';
import { postNeedsPrefix } from './resync.ts';
import { commitOwn, endHere } from './step-commit.ts';

/** Refusals that end the request: another attempt would fail in the same way. All others have a way on. */
const FATAL_REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'numerical_failure',
  'router_failed',
  'protocol_violation',
]);

/** Tries at other replicas before a home goes on alone. */
const MAX_OTHER_REPLICAS = 2;

/** What a home does with the messages of its guests. */
export class HomeSide {
  private readonly context: SubserverContext;

  constructor(context: SubserverContext) {
    this.context = context;
  }

  /** The request comes back: commit what the guest wrote, then run on here. */
  onReturn(request: HomeRequest, message: PeerReq): void {
    if (!this.isCurrent(request, message, request.hop + 1)) return;
    const taken = this.take(request, message, message.origins);
    if (message.finished !== undefined) this.forgetGuest(request, message.from); // it has freed its state
    if (taken === 'refused') return;
    request.numHandoffs += message.hop - request.hop;
    request.hop = message.hop;
    this.context.counters.add('handoffs_received');
    this.context.beacons.cameFrom(message.from, message.fromReplica);
    for (const { model, loc, replica } of message.locs ?? []) this.learn(request, model, loc, replica);
    const { self } = this.context.options;
    const lost = message.locs?.find(({ model, loc }) => loc === 0 && model !== self);
    const ended = taken ?? message.finished;
    if (ended !== undefined) {
      finishAtHome(this.context, request, ended);
      return;
    }
    if (lost) this.onLost(request, lost, message.algo);
    else this.resume(request, message.algo);
  }

  /** A guest could not hand the request on as it should: one replica was not to be had, or none of the model. */
  private onLost(request: HomeRequest, { model, replica }: PeerLoc, algo: AlgoFields | undefined): void {
    if (replica !== undefined && isReachable(this.context, request, model)) {
      this.sendAgain(request, model, algo);
      return;
    }
    request.term += 1; // the lost one may still be at work
    this.resume(request, replica === undefined ? algo : undefined); // with a replica they are the lost one's
    // Passed on without a token to one that is lost: asking again could go on for ever, so the home's token stands.
    this.commitHeld(request);
  }

  /** The guest keeps the request and tells what it has written so far. */
  onProgress(request: HomeRequest, message: Progress): void {
    if (!this.isCurrent(request, message, request.hop)) return;
    if (message.hop > request.hop) this.follow(request, message);
    const taken = this.take(request, message, message.origins);
    if (taken === 'refused') return;
    if (taken !== undefined) finishAtHome(this.context, request, taken);
  }

  onAdmitted(request: HomeRequest, message: Admitted): void {
    if (message.term !== request.term)
      postRelease(this.context, message.rid, message.term, message.model, message.replica);
    else this.isFromOwnReplica(request, message.model, message.replica);
  }

  onReject(request: HomeRequest, message: Reject): void {
    const isPending = request.lifecycle.phase === 'pending';
    const isAboutNow = message.term === request.term && message.hop >= request.hop;
    const isParkedThere = request.lastSent?.to === message.model;
    const known = request.peerReplicas.get(message.model);
    if (!isAboutNow || !isPending || (known !== undefined && known !== message.replica)) {
      this.context.counters.add('stale_messages');
      return;
    }
    this.context.counters.add('handoffs_refused');
    const code: ErrorCode = isErrorCode(message.code) ? message.code : 'internal';
    if (FATAL_REFUSALS.has(code)) {
      finishAtHome(this.context, request, 'error', new TokenrailError(code, message.message));
    } else if (message.retryable && isParkedThere) this.moveGuest(request, message.model);
    else {
      if (!message.retryable) request.refusedBy.add(message.model);
      this.forgetGuest(request, message.model);
      this.goOnAlone(request);
    }
  }

  onPeerGone(request: HomeRequest, model: ModelId, replica: string | undefined): void {
    const known = request.peerReplicas.get(model);
    if (known !== replica) return;
    const isParkedThere = request.lifecycle.phase === 'pending' && request.lastSent?.to === model;
    if (!isParkedThere) this.forgetGuest(request, model);
    else if (replica !== undefined) this.moveGuest(request, model);
    else {
      this.avoid(model, this.context.options.absentModelMs);
      this.goOnAlone(request);
    }
  }

  /** Repeats handoffs that got no answer; called from time to time. */
  repeatOverdue(nowMs: number): void {
    const { table, options, counters } = this.context;
    for (const request of [...table.values()]) {
      const sent = request.lastSent;
      if (request.role !== 'home' || request.lifecycle.phase !== 'pending' || !sent) continue;
      if (nowMs - sent.sentAtMs < options.resendMs * 2 ** (sent.attempts - 1)) continue;
      counters.add('handoffs_repeated');
      if (sent.attempts > options.maxResends) this.moveGuest(request as HomeRequest, sent.to);
      else {
        sent.attempts += 1;
        sent.sentAtMs = nowMs;
        postHandoff(this.context, request, sent.start);
      }
    }
  }

  abandon(request: HomeRequest, error: TokenrailError): void {
    finishAtHome(this.context, request, 'error', error);
  }

  /** The first replica that answers has the request; another one that took it too is released. */
  isFromOwnReplica(request: HomeRequest, model: ModelId, replica: string): boolean {
    const known = request.peerReplicas.get(model);
    if (known === undefined) request.peerReplicas.set(model, replica);
    else if (known !== replica) {
      postRelease(this.context, request.rid, request.term, model, replica);
      return false;
    }
    return true;
  }

  /** Nobody sends there for a while: each request would spend the whole time of repeats at every token. */
  private avoid(model: ModelId, durationMs: number): void {
    this.context.unreachable.avoid(model, this.context.clock.nowMs(), durationMs);
  }

  private isCurrent(request: HomeRequest, message: PeerReq | Progress, leastHop: number): boolean {
    const isPending = request.lifecycle.phase === 'pending';
    if (message.term !== request.term || message.hop < leastHop || !isPending) {
      this.context.counters.add('stale_messages');
      // A guest that was given up would work on for nobody.
      if (message.term < request.term)
        postRelease(this.context, message.rid, message.term, message.from, message.fromReplica);
      return false;
    }
    return this.isFromOwnReplica(request, message.from, message.fromReplica);
  }

  /** Commits the new tokens of a message. Returns the reason if the request ends with one of them. */
  private take(
    request: HomeRequest,
    message: PeerReq | Progress,
    origins: TokenOrigins | undefined,
  ): EndReason | 'refused' | undefined {
    const plan = askRouter(this.context, request, (router) => receiveChecked(router, request, message));
    if (!plan) return 'refused';
    if (plan.kind === 'gap') {
      postNeedsPrefix(this.context, request, message.from, message.fromReplica, message.hop, plan.have);
      return 'refused';
    }
    const usable = usablePlan(this.context, request, plan);
    if (usable instanceof TokenrailError) {
      finishAtHome(this.context, request, 'error', usable);
      return 'refused';
    }
    const { tokens, numSkipped } = usable;
    this.heard(request, tokens.length);
    if (tokens.length > 0) request.held = undefined;
    const position = request.numGenerated;
    let ended: EndReason | undefined;
    for (let i = 0; i < tokens.length && ended === undefined; i += 1) {
      const index = numSkipped + i;
      ended = request.append(
        tokens[i] ?? 0,
        origins?.models[index] ?? message.from,
        origins?.signals[index] ?? NaN,
      );
    }
    request.peerLocs.set(message.from, Math.max(message.loc, request.peerLocs.get(message.from) ?? 0));
    if (request.numGenerated > position) {
      this.context.counters.add('answer_tokens', request.numGenerated - position);
      postTokens(this.context, request, position);
    }
    return ended;
  }

  private heard(request: HomeRequest, numNewTokens: number): void {
    request.lastHeardMs = this.context.clock.nowMs();
    if (numNewTokens > 0) request.numMoves = 0; // a guest that fails again and again without any is no news
    if (!request.lastSent) return;
    this.context.unreachable.clear(request.lastSent.to);
    request.lastSent.attempts = 1;
    request.lastSent.sentAtMs = request.lastHeardMs;
  }

  /** A guest handed the request to another guest: repeats go to the one that has it now. */
  private follow(request: HomeRequest, message: Progress): void {
    request.numHandoffs += message.hop - request.hop;
    request.hop = message.hop;
    if (request.lastSent) {
      request.lastSent.to = message.from;
      request.lastSent.start = request.tokens.length;
      request.lastSent.loc = request.tokens.length;
    }
  }

  private learn(request: HomeRequest, model: ModelId, loc: number, replica: string | undefined): void {
    if (model === this.context.options.self) return;
    const known = request.peerReplicas.get(model);
    if (loc === 0) {
      // The sender could not reach it; another replica than the one it tried may have the request.
      if (replica === undefined || known === undefined || known === replica) this.forgetGuest(request, model);
      return;
    }
    request.peerLocs.set(model, Math.max(loc, request.peerLocs.get(model) ?? 0));
    if (replica !== undefined && known === undefined) request.peerReplicas.set(model, replica);
  }

  private resume(request: HomeRequest, algo?: AlgoFields): void {
    request.lifecycle.send({ type: 'RETURN' });
    request.visit += 1;
    request.numSinceArrival = 0;
    request.algo = algo;
    this.context.ready.push(request, this.context.clock.nowMs());
    this.context.wake();
  }

  private forgetGuest(request: HomeRequest, model: ModelId): void {
    request.peerReplicas.delete(model);
    request.peerLocs.delete(model);
  }

  /** Recovery: the whole sequence goes to any replica of the model, under a new term. */
  private moveGuest(request: HomeRequest, model: ModelId): void {
    const replica = request.peerReplicas.get(model);
    if (replica !== undefined) postRelease(this.context, request.rid, request.term, model, replica);
    this.forgetGuest(request, model);
    this.sendAgain(request, model, request.lastSent?.algo);
  }

  /** Under a new term, to the replica that is known to have the request, else to any; not for ever. */
  private sendAgain(request: HomeRequest, model: ModelId, algo: AlgoFields | undefined): void {
    request.numMoves += 1;
    if (request.numMoves > MAX_OTHER_REPLICAS) {
      this.avoid(model, this.context.options.silentModelMs);
      this.goOnAlone(request);
      return;
    }
    request.term += 1;
    request.lifecycle.send({ type: 'RETURN' });
    handOff(this.context, request, model, { algo });
  }

  /**
   * No replica of the model is to be had: the home's own token stands, and it writes on by itself. Under a new
   * term, because somebody may still be writing something else under the old one.
   */
  private goOnAlone(request: HomeRequest): void {
    const model = request.lastSent?.to;
    if (model !== undefined && !request.peerReplicas.has(model)) this.forgetGuest(request, model);
    this.context.counters.add('handoffs_local');
    request.term += 1;
    request.hop += 1;
    request.numMoves = 0;
    this.resume(request);
    this.commitHeld(request);
  }

  /** Commits the home's own token, which it discarded when it handed the request off; nothing if a guest wrote one. */
  private commitHeld(request: HomeRequest): void {
    const { held } = request;
    if (!held) return;
    const ended = commitOwn(this.context, request, held.token, held.signal);
    if (ended !== undefined) endHere(this.context, request, ended);
  }
}
