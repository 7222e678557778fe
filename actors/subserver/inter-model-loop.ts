import { TokenrailError } from '../../core/errors.ts';
import type { Admitted, NeedsPrefix, PeerReq, Progress, Reject, Release } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import { postRelease, releaseHere } from './ending.ts';
import { GuestSide } from './guest-side.ts';
import { postHandoff, postProgress } from './handoff.ts';
import { isHomeRequest } from './home-request.ts';
import { HomeSide } from './home-side.ts';

/**
 * Loop 3, home ↔ guests. Messages come at any time, doubled, late or out of order; (term, hop) and the lengths
 * they carry decide what they still mean. They never wait for a step, and a step never waits for them.
 */
export class InterModelLoop {
  private readonly home: HomeSide;
  private readonly guest: GuestSide;
  private readonly context: SubserverContext;

  constructor(context: SubserverContext, isServing: () => boolean) {
    this.context = context;
    this.home = new HomeSide(context);
    this.guest = new GuestSide(context, isServing);
  }

  peerReq(message: PeerReq, reply: string | undefined): void {
    const { self, replica } = this.context.options;
    const request = this.context.table.get(message.rid);
    if (message.to !== self) this.drop();
    else if (request && isHomeRequest(request)) this.home.onReturn(request, message);
    else if (message.home.model === self && message.home.replica === replica) {
      postRelease(this.context, message.rid, message.term, message.from, message.fromReplica);
    } else if (this.context.table.isBuried(message.rid, message.term)) this.stale();
    else if (request) this.guest.onHandoff(request, message);
    else this.guest.onFirstContact(message, reply);
  }

  progress(message: Progress): void {
    const request = this.context.table.get(message.rid);
    if (request && isHomeRequest(request)) this.home.onProgress(request, message);
    else postRelease(this.context, message.rid, message.term, message.from, message.fromReplica);
  }

  admitted(message: Admitted): void {
    const request = this.context.table.get(message.rid);
    if (request && isHomeRequest(request)) this.home.onAdmitted(request, message);
    else postRelease(this.context, message.rid, message.term, message.model, message.replica);
  }

  reject(message: Reject): void {
    const request = this.context.table.get(message.rid);
    if (request && isHomeRequest(request)) this.home.onReject(request, message);
    else this.stale();
  }

  release(message: Release): void {
    this.context.table.bury(message.rid, message.term);
    const request = this.context.table.get(message.rid);
    if (request && !isHomeRequest(request) && message.term >= request.term)
      releaseHere(this.context, request);
  }

  /** The receiver of a handoff or of progress holds less than was assumed: say it again from there. */
  needsPrefix(message: NeedsPrefix): void {
    const request = this.context.table.get(message.rid);
    if (!request || message.term !== request.term) {
      this.stale();
      return;
    }
    const have = Math.min(message.have, request.tokens.length);
    if (request.lifecycle.phase === 'pending' && request.lastSent?.to === message.from) {
      if (isHomeRequest(request) && !this.home.isFromOwnReplica(request, message.from, message.fromReplica))
        return;
      request.lastSent.start = have;
      request.lastSent.loc = request.tokens.length;
      this.context.counters.add('handoffs_repeated');
      postHandoff(this.context, request, have);
    } else if (!isHomeRequest(request) && message.from === request.home.model) {
      postProgress(this.context, request, have);
    } else this.stale();
  }

  /** Nobody listens at a destination any more (the broker's 503). */
  peerGone(model: number, replica: string | undefined): void {
    this.context.counters.add('peers_lost');
    if (replica !== undefined) this.context.beacons.forget(model, replica);
    for (const request of [...this.context.table.values()]) {
      if (isHomeRequest(request)) this.home.onPeerGone(request, model, replica);
      else if (request.home.model === model && request.home.replica === replica)
        releaseHere(this.context, request);
    }
  }

  /** Repeats what got no answer, drops what nobody speaks of any more; called from time to time. */
  sweep(nowMs: number): void {
    this.home.repeatOverdue(nowMs);
    this.guest.dropIdle(nowMs);
  }

  /** This replica ends: homes finish their requests with an error, guests send theirs back. */
  abandonAll(): void {
    const error = new TokenrailError('shutting_down', 'the replica that held this request shut down');
    for (const request of [...this.context.table.values()]) {
      if (isHomeRequest(request)) this.home.abandon(request, error);
      else this.guest.abandon(request, error);
    }
  }

  private drop(): void {
    this.context.counters.add('dropped_messages');
  }

  private stale(): void {
    this.context.counters.add('stale_messages');
  }
}
