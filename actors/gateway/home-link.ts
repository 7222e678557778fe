import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import { TokenrailError } from '../../core/errors.ts';
import type { Bus, BusMessage, BusSubscription } from '../../transport/bus.ts';
import { decodeFrame, encodeFrame } from '../../transport/codec.ts';
import type { Abort, Admit, Heartbeat, Message, NeedsPrefix } from '../../transport/messages.ts';
import { lastToken, type Subjects } from '../../transport/subjects.ts';
import type { BusTraffic } from './metrics/bus-traffic.ts';
import { Departed } from './departed.ts';

/** What the broker's "nobody listens" refers to. */
export type InboxPurpose = 'admit' | 'probe' | 'client';

/** One request's side of the link. */
export interface RequestHandler {
  onMessage(message: Message): void;
  onNoResponders(purpose: InboxPurpose): void;
  /** A handler threw; the request cannot go on. */
  onFault(thrown: unknown): void;
}

export interface HomeLinkDeps {
  bus: Bus;
  subjects: Subjects;
  clock: Clock;
  logger: Logger;
  traffic: BusTraffic;
  gatewayId: string;
  homeName: string;
  onHeartbeat: (heartbeat: Heartbeat) => void;
}

const TAG = /^(?<rid>req-[A-Za-z0-9]+?)(?:-(?<purpose>probe|client))?$/;

/**
 * All traffic between one gateway and the homes of its requests: three subscriptions for the whole life of
 * the gateway, messages handed out by request id. What belongs to no live request is counted and dropped.
 */
export class HomeLink {
  private readonly deps: HomeLinkDeps;
  private readonly handlers = new Map<string, RequestHandler>();
  private readonly departed: Departed;
  private subscriptions: BusSubscription[] = [];

  constructor(deps: HomeLinkDeps) {
    this.deps = deps;
    this.departed = new Departed(deps.clock, (replica, abort) => this.tryToReplica(replica, abort));
  }

  /** Subscribes and waits until the broker knows: a request sent earlier could lose its first tokens. */
  async start(): Promise<void> {
    const { bus, subjects, gatewayId } = this.deps;
    this.subscriptions = [
      bus.subscribe(subjects.gateway(gatewayId), (message) => this.receive(message)),
      bus.subscribe(subjects.allInbox('gateway', gatewayId), (message) => this.receiveInbox(message)),
      bus.subscribe(subjects.allHeartbeats(), (message) => this.receive(message)),
    ];
    await bus.flush();
  }

  close(): void {
    for (const subscription of this.subscriptions) subscription.unsubscribe();
    this.subscriptions = [];
  }

  register(rid: string, handler: RequestHandler): void {
    this.handlers.set(rid, handler);
  }

  /** Forgets a request. `abort`: what its home is told again should it go on regardless. */
  release(rid: string, replica: string | undefined, abort: Abort | undefined): void {
    if (this.handlers.delete(rid)) this.departed.add(rid, replica, abort);
  }

  /**
   * First contact: to any replica of the home model.
   * @throws TokenrailError `payload_too_large`, `bus_unavailable`
   */
  admit(message: Admit): void {
    const { bus, subjects, gatewayId, homeName, traffic } = this.deps;
    const frame = encodeFrame([message]);
    if (frame.byteLength > bus.maxPayloadBytes) {
      const sizes = `${frame.byteLength} bytes of at most ${bus.maxPayloadBytes}`;
      throw new TokenrailError('payload_too_large', `The prompt does not fit one bus message (${sizes}).`);
    }
    bus.publish(subjects.model(homeName), frame, {
      reply: subjects.inbox('gateway', gatewayId, message.rid),
    });
    traffic.message('out', message.kind);
  }

  /** To the replica that owns the request. With `probe` the broker tells when nobody is there. */
  toReplica(replica: string, message: Abort | NeedsPrefix, probe = false): void {
    const { bus, subjects, gatewayId, homeName, traffic } = this.deps;
    const reply = subjects.inbox('gateway', gatewayId, `${message.rid}-probe`);
    bus.publish(subjects.replica(homeName, replica), encodeFrame([message]), probe ? { reply } : {});
    traffic.message('out', message.kind);
  }

  /** As {@link toReplica}, for what is only a courtesy: a lost bus is no fault of the request that ends. */
  tryToReplica(replica: string, message: Abort): void {
    try {
      this.toReplica(replica, message);
    } catch (thrown) {
      this.deps.traffic.dropped('unsent', 1);
      this.deps.logger.debug({ rid: message.rid, err: thrown }, 'an Abort could not be sent');
    }
  }

  /** Reply subject for what is published to a client: the broker's 503 there means that the client is gone. */
  clientInbox(rid: string): string {
    return this.deps.subjects.inbox('gateway', this.deps.gatewayId, `${rid}-client`);
  }

  private receiveInbox(message: BusMessage): void {
    if (!message.isNoResponders) return this.receive(message);
    const parts = TAG.exec(lastToken(message.subject))?.groups;
    const rid = parts?.['rid'] ?? '';
    this.deps.traffic.message('in', 'no-responders');
    const purpose = (parts?.['purpose'] ?? 'admit') as InboxPurpose;
    this.guard(rid, (handler) => handler.onNoResponders(purpose));
  }

  private receive(message: BusMessage): void {
    const frame = decodeFrame(message.payload);
    if (frame.dropped > 0) this.deps.traffic.dropped(frame.reason ?? 'malformed', frame.dropped);
    for (const inner of frame.messages) this.dispatch(inner);
  }

  private dispatch(message: Message): void {
    this.deps.traffic.message('in', message.kind);
    if (message.kind === 'heartbeat') return this.deps.onHeartbeat(message);
    if (!('rid' in message)) return this.deps.traffic.dropped('unexpected', 1);
    if (this.handlers.has(message.rid))
      return this.guard(message.rid, (handler) => handler.onMessage(message));
    if (!this.departed.onMessage(message)) this.deps.traffic.dropped('unknown_request', 1);
  }

  /** One request's fault must reach neither its neighbours in the frame nor the client's read loop. */
  private guard(rid: string, call: (handler: RequestHandler) => void): void {
    const handler = this.handlers.get(rid);
    if (handler === undefined) return;
    try {
      call(handler);
    } catch (thrown) {
      this.deps.logger.error({ rid, err: thrown }, 'a message handler of a request failed');
      handler.onFault(thrown);
    }
  }
}
