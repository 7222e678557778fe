import { TokenrailError } from '../../core/errors.ts';
import type { ModelId } from '../../core/request.ts';
import { receiveChecked } from '../../routers/checked-hooks.ts';
import type { Admitted, PeerReq, Reject } from '../../transport/messages.ts';
import { refuse, usablePlan } from './admission.ts';
import type { SubserverContext } from './context.ts';
import { releaseHere } from './ending.ts';
import { askRouter, failRequest } from './failing.ts';
import { handOff, postHandoff, postProgress } from './handoff.ts';
import { LiveRequest } from './live-request.ts';
import type { Destination } from './peer-inboxes.ts';
import { postRefusal, postReject } from './refusal.ts';
import { postNeedsPrefix } from './resync.ts';

/** A parked guest outlives the last word of its home by so many times `beaconStaleMs`: an outage of the broker may be short. */
const SILENT_HOME_STALE_TIMES = 3;

/** What a guest does with handoffs. Its tokens and KV are only a cache of what the home knows. */
export class GuestSide {
  private readonly context: SubserverContext;
  private readonly isServing: () => boolean;

  constructor(context: SubserverContext, isServing: () => boolean) {
    this.context = context;
    this.isServing = isServing;
  }

  onFirstContact(message: PeerReq, reply: string | undefined): void {
    if (message.finished !== undefined) return; // the end of something this replica never had
    if (!message.init || message.suffix.length !== message.loc) {
      postNeedsPrefix(this.context, message, message.from, message.fromReplica, message.hop, 0);
      return;
    }
    const subject =
      reply ?? this.context.subjects.replica(this.context.modelName(message.from), message.fromReplica);
    const refusal = this.isServing()
      ? refuse(this.context, message.init, message.suffix)
      : new TokenrailError('shutting_down', 'this replica takes no new requests');
    if (refusal) {
      postRefusal(this.context, message, subject, refusal);
      return;
    }
    const request = new LiveRequest({
      rid: message.rid,
      seq: this.context.table.takeSeq(),
      role: 'guest',
      init: message.init,
      home: message.home,
      tokens: message.suffix,
      term: message.term,
      hop: message.hop,
      origins: message.origins,
    });
    request.peerReplicas.set(message.home.model, message.home.replica);
    this.context.table.add(request);
    const { self: model, replica } = this.context.options;
    const admitted: Admitted = { kind: 'admitted', rid: message.rid, term: message.term, model, replica };
    this.context.outbox.post(subject, admitted);
    this.arrive(request, message);
  }

  onHandoff(request: LiveRequest, message: PeerReq): void {
    if (message.term < request.term || (message.term === request.term && message.hop < request.hop - 1)) {
      this.context.counters.add('stale_messages');
      return;
    }
    request.lastHeardMs = this.context.clock.nowMs();
    if (message.finished !== undefined) {
      releaseHere(this.context, request);
      return;
    }
    if (message.term === request.term && message.hop <= request.hop) this.repeatAnswer(request, message);
    else this.takeIn(request, message);
  }

  /** A first contact from here was taken. Which replica stays when two took it is for the home to say. */
  onAdmitted(request: LiveRequest, message: Admitted): void {
    const isAwaited = request.term === message.term && request.lastSent?.to === message.model;
    if (isAwaited && !request.peerReplicas.has(message.model))
      request.peerReplicas.set(message.model, message.replica);
  }

  /** Another guest does not take the request. */
  onReject(request: LiveRequest, message: Reject): void {
    const isAboutNow = message.term === request.term && message.hop === request.hop;
    const { model, replica, retryable } = message;
    // What it refuses for good, every replica of its model would.
    if (isAboutNow && this.isParkedAt(request, model, replica))
      this.handBack(request, { model, replica: retryable ? replica : undefined });
    else this.context.counters.add('stale_messages');
  }

  onPeerGone(request: LiveRequest, model: ModelId, replica: string | undefined): void {
    if (request.peerReplicas.get(model) !== replica) return;
    if (this.isParkedAt(request, model, replica)) this.handBack(request, { model, replica });
    else {
      request.peerReplicas.delete(model);
      request.peerLocs.delete(model);
    }
  }

  abandon(request: LiveRequest, error: TokenrailError): void {
    postReject(this.context, request, error);
    releaseHere(this.context, request);
  }

  /**
   * Drops parked guests that nobody has spoken of for long, or whose home is silent: a home with requests announces itself all
   * the time, and one that only seemed gone can send the tokens again.
   */
  dropIdle(nowMs: number): void {
    const { beacons, options, table } = this.context;
    for (const request of [...table.values()]) {
      if (request.role !== 'guest' || request.lifecycle.phase !== 'pending') continue;
      const idleMs = nowMs - request.lastHeardMs;
      const isOrphan =
        idleMs > SILENT_HOME_STALE_TIMES * options.beaconStaleMs &&
        !beacons.isHeard(request.home.model, request.home.replica);
      if (isOrphan || idleMs > options.guestIdleMs) releaseHere(this.context, request);
    }
  }

  /** The handoff was heard before, so its answer may be lost: say it again, from where the sender stands. */
  private repeatAnswer(request: LiveRequest, message: PeerReq): void {
    this.context.counters.add('handoffs_repeated');
    // Whoever took the request on from here may have told the home only.
    for (const { model, replica } of message.locs ?? [])
      if (replica !== undefined && model !== this.context.options.self && !request.peerReplicas.has(model))
        request.peerReplicas.set(model, replica);
    const start = Math.min(message.loc, request.tokens.length);
    const sent = request.lastSent;
    if (request.lifecycle.phase === 'running') postProgress(this.context, request, start);
    else if (sent) {
      if (sent.to === message.from) sent.start = Math.min(start, sent.loc);
      postHandoff(this.context, request, sent.start);
    }
  }

  private takeIn(request: LiveRequest, message: PeerReq): void {
    // A newer handoff while this guest still works on an older one: the home has given that one up.
    if (message.term > request.term || request.lifecycle.phase === 'running') this.rewind(request, message);
    const plan = askRouter(this.context, request, (router) => receiveChecked(router, request, message));
    if (!plan) return;
    request.term = message.term;
    if (plan.kind === 'gap') {
      request.hop = message.hop - 1; // its repeat is news, whatever hop an older term had reached
      this.park(request, message.from);
      postNeedsPrefix(this.context, message, message.from, message.fromReplica, message.hop, plan.have);
      return;
    }
    request.hop = message.hop;
    const usable = usablePlan(this.context, request, plan);
    if (usable instanceof TokenrailError) {
      failRequest(this.context, request, usable);
      return;
    }
    usable.tokens.forEach((token, i) => {
      const index = usable.numSkipped + i;
      request.append(token, message.origins?.models[index] ?? 0, message.origins?.signals[index] ?? NaN);
    });
    this.arrive(request, message);
  }

  private isParkedAt(request: LiveRequest, model: ModelId, replica: string | undefined): boolean {
    const known = request.peerReplicas.get(model);
    const isPending = request.lifecycle.phase === 'pending';
    return isPending && request.lastSent?.to === model && (known === undefined || known === replica);
  }

  /** The one that the router chose is not to be had: the home gets the request, and hears why. */
  private handBack(request: LiveRequest, lost: Destination): void {
    this.context.counters.add('handoffs_local');
    request.peerReplicas.delete(lost.model);
    request.peerLocs.delete(lost.model);
    request.lifecycle.send({ type: 'RETURN' });
    // Where another replica may take it, the home sends what was sent from here.
    const algo = lost.replica === undefined ? undefined : request.lastSent?.algo;
    handOff(this.context, request, request.home.model, { lost, algo });
  }

  /** Waits for the prefix without being in any queue: what was running here is void. */
  private park(request: LiveRequest, to: ModelId): void {
    if (request.lifecycle.phase === 'running') request.lifecycle.send({ type: 'HANDOFF', to });
    request.lastSent = undefined;
  }

  private arrive(request: LiveRequest, message: PeerReq): void {
    const { beacons, clock, counters, ready, wake } = this.context;
    request.peerLocs.set(message.from, message.loc);
    request.peerReplicas.set(message.from, message.fromReplica);
    for (const { model, loc, replica } of message.locs ?? []) {
      if (model === this.context.options.self) continue;
      request.peerLocs.set(model, Math.max(loc, request.peerLocs.get(model) ?? 0));
      if (replica !== undefined) request.peerReplicas.set(model, replica);
    }
    if (request.lifecycle.phase === 'pending') request.lifecycle.send({ type: 'RETURN' });
    request.visit += 1;
    request.numSinceArrival = 0;
    request.algo = message.algo;
    request.lastHeardMs = clock.nowMs();
    counters.add('handoffs_received');
    beacons.cameFrom(message.from, message.fromReplica);
    ready.push(request, clock.nowMs());
    wake();
  }

  /** Goes back to what the sender confirms: its suffix replaces whatever stands here from its start on. */
  private rewind(request: LiveRequest, message: PeerReq): void {
    this.context.ready.remove(request);
    request.visit += 1;
    request.truncate(message.loc - message.suffix.length);
  }
}
