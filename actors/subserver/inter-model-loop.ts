import { TokenrailError } from '../../core/errors.ts';
import type { ModelId } from '../../core/request.ts';
import type { Admitted, NeedsPrefix, PeerReq, Progress, Reject, Release } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import { postRelease, releaseHere } from './ending.ts';
import { GuestSide } from './guest-side.ts';
import { postHandoff, postProgress } from './handoff.ts';
import { isHomeRequest } from './home-request.ts';
import { HomeSide } from './home-side.ts';
import type { LiveRequest } from './live-request.ts';
import { postVoid } from './refusal.ts';

/** After an outage everybody comes back, one after the other: so long nobody who is not there yet counts as gone. */
const RETURNING_MS = 1000;

/**
 * Loop 3, home ↔ guests. Messages come at any time, doubled, late or out of order; (term, hop) and the lengths
 * they carry decide what they still mean. They never wait for a step, and a step never waits for them.
 */
export class InterModelLoop {
  private readonly home: HomeSide;
  private readonly guest: GuestSide;
  private readonly context: SubserverContext;
  private reconnectedMs = -Infinity;

  constructor(context: SubserverContext, isServing: () => boolean) {
    this.context = context;
    context.outbox.onReconnect(() => {
      this.reconnectedMs = context.clock.nowMs();
    });
    this.home = new HomeSide(context);
    this.guest = new GuestSide(context, isServing);
  }

  peerReq(message: PeerReq, reply: string | undefined): void {
    const { options, table } = this.context;
    const { self, replica, deployment } = options;
    const isOurs = message.to === self && message.home.model === deployment.home;
    const names = [message.from, ...(message.locs ?? []).map(({ model }) => model)];
    if (!isOurs || !names.every((model) => this.isModel(model))) return this.drop();
    const { model, replica: homeReplica } = message.home;
    if (model === self && homeReplica === replica) {
      const request = table.home(message.rid);
      if (request) this.home.onReturn(request, message);
      else postRelease(this.context, message.rid, message.term, message.from, message.fromReplica);
    } else if (model === self) this.drop();
    else if (table.isBuried(message.rid, message.term)) this.refuseBuried(message);
    else {
      const request = table.guest(message.rid, homeReplica);
      if (request) this.guest.onHandoff(request, message);
      else this.guest.onFirstContact(message, reply);
    }
  }

  progress(message: Progress): void {
    if (!this.isModel(message.from)) return this.drop();
    const request = this.context.table.home(message.rid);
    if (request) this.home.onProgress(request, message);
    else postRelease(this.context, message.rid, message.term, message.from, message.fromReplica);
  }

  admitted(message: Admitted): void {
    if (!this.isModel(message.model)) return this.drop();
    const { rid, term, model, replica } = message;
    const request = this.context.table.home(rid);
    if (request) return this.home.onAdmitted(request, message);
    const guests = this.context.table.guests(rid);
    if (guests.length === 0) postRelease(this.context, rid, term, model, replica);
    for (const guest of guests) this.guest.onAdmitted(guest, message);
  }

  reject(message: Reject): void {
    if (!this.isModel(message.model)) return this.drop();
    const request = this.context.table.home(message.rid);
    if (request) return this.home.onReject(request, message);
    const guests = this.context.table.guests(message.rid);
    if (guests.length === 0) this.stale();
    for (const guest of guests) this.guest.onReject(guest, message);
  }

  release(message: Release): void {
    this.context.table.bury(message.rid, message.term);
    for (const guest of this.context.table.guests(message.rid)) {
      if (message.term >= guest.term) releaseHere(this.context, guest);
    }
  }

  /** The receiver of a handoff or of progress holds less than was assumed: say it again from there. */
  needsPrefix(message: NeedsPrefix): void {
    const { table } = this.context;
    const home = table.home(message.rid);
    const asked = home ? [home] : table.guests(message.rid);
    const numAnswers = asked.filter((request) => this.sayAgain(request, message)).length;
    if (numAnswers === 0) this.stale();
  }

  /** Nobody listens at a destination any more (the broker's 503). */
  peerGone(model: number, replica: string | undefined): void {
    // What was sent to it is repeated, as after any loss.
    if (this.context.clock.nowMs() - this.reconnectedMs < RETURNING_MS) return;
    this.context.counters.add('peers_lost');
    if (replica !== undefined) this.context.beacons.forget(model, replica);
    for (const request of [...this.context.table.values()]) {
      if (isHomeRequest(request)) this.home.onPeerGone(request, model, replica);
      else if (request.home.model === model && request.home.replica === replica)
        releaseHere(this.context, request);
      else this.guest.onPeerGone(request, model, replica);
    }
  }

  /** Repeats what got no answer, drops what nobody speaks of any more; called from time to time. */
  sweep(nowMs: number): void {
    // Nothing said during an outage is heard: repeating then would only count good replicas as gone.
    if (this.context.outbox.isConnected) this.home.repeatOverdue(nowMs);
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

  private sayAgain(request: LiveRequest, message: NeedsPrefix): boolean {
    if (message.term !== request.term || !this.isModel(message.from)) return false;
    const have = Math.min(message.have, request.tokens.length);
    const isFromHome = message.from === request.home.model;
    if (isFromHome && message.fromReplica !== request.home.replica) return false;
    if (request.lifecycle.phase === 'pending' && request.lastSent?.to === message.from) {
      if (isHomeRequest(request)) {
        if (!this.home.isFromOwnReplica(request, message.from, message.fromReplica)) return false;
        // It lost its memory, and with it perhaps that it had handed the request on: from here on that is void.
        if (have === 0) request.term += 1;
      }
      request.lastSent.start = have;
      request.lastSent.loc = request.tokens.length;
      this.context.counters.add('handoffs_repeated');
      postHandoff(this.context, request, have);
      return true;
    }
    if (isHomeRequest(request) || !isFromHome) return false;
    postProgress(this.context, request, have);
    return true;
  }

  /**
   * Mostly a late copy, which nobody waits for. If a home does wait (this replica was released on behalf of
   * another home of the same request), it must come again under a new term.
   */
  private refuseBuried(message: PeerReq): void {
    this.stale();
    const subject = this.context.subjects.replica(this.context.modelName(message.from), message.fromReplica);
    const text = 'the request was released at this replica';
    postVoid(this.context, message, subject, new TokenrailError('model_unavailable', text));
  }

  private isModel(model: ModelId): boolean {
    return this.context.options.deployment.models.some(({ id }) => id === model);
  }

  private drop(): void {
    this.context.counters.add('dropped_messages');
  }

  private stale(): void {
    this.context.counters.add('stale_messages');
  }
}
