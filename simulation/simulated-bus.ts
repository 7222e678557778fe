import type { Clock } from '../core/clock.ts';
import { TokenrailError } from '../core/errors.ts';
import type {
  Bus,
  BusHandler,
  BusMessage,
  BusStatus,
  BusSubscription,
  PublishOptions,
  SubscribeOptions,
} from '../transport/bus.ts';

export interface Endpoint {
  readonly name: string;
}

/** What a connection needs of its network. */
export interface NetworkPort {
  readonly maxPayloadBytes: number;
  attach(bus: SimulatedBus): void;
  remove(bus: SimulatedBus): void;
  /** Somebody subscribed or unsubscribed. */
  subscriptionsChanged(): void;
  route(from: Endpoint, subject: string, payload: Uint8Array, reply: string | undefined): void;
}

let nextNumber = 0;

/** One subscription of a simulated connection. */
export class SimulatedSubscription implements BusSubscription {
  readonly number = (nextNumber += 1);
  readonly subject: string;
  readonly queue: string | undefined;
  readonly owner: SimulatedBus;
  private readonly handler: BusHandler;

  constructor(owner: SimulatedBus, subject: string, handler: BusHandler, queue: string | undefined) {
    this.owner = owner;
    this.subject = subject;
    this.handler = handler;
    this.queue = queue;
  }

  deliver(message: BusMessage): void {
    if (!this.owner.subscriptions.has(this)) return;
    if (this.owner.status !== 'connected') return;
    this.owner.count('received');
    try {
      this.handler(message);
    } catch {
      this.owner.count('handlerErrors');
    }
  }

  unsubscribe(): void {
    this.owner.forget(this);
  }

  drain(): Promise<void> {
    this.unsubscribe();
    return Promise.resolve();
  }
}

/** A {@link Bus} on a simulated network. `disconnect` and `reconnect` play an outage. */
export class SimulatedBus implements Bus, Endpoint {
  readonly name: string;
  readonly brokerName = 'simulated network';
  readonly subscriptions = new Set<SimulatedSubscription>();
  status: BusStatus = 'connected';
  private readonly network: NetworkPort;
  private readonly clock: Clock;
  private readonly listeners = new Set<(status: BusStatus) => void>();
  private readonly counts = new Map<string, number>();
  private numRequests = 0;

  constructor(name: string, network: NetworkPort, clock: Clock) {
    this.name = name;
    this.network = network;
    this.clock = clock;
  }

  get maxPayloadBytes(): number {
    return this.network.maxPayloadBytes;
  }

  publish(subject: string, payload: Uint8Array, options: PublishOptions = {}): void {
    if (this.status === 'closed') throw new TokenrailError('bus_unavailable', 'the bus is closed');
    if (payload.length > this.maxPayloadBytes) {
      throw new TokenrailError(
        'payload_over_bus_limit',
        `${payload.length} bytes exceed ${this.maxPayloadBytes}`,
      );
    }
    this.count(this.status === 'connected' ? 'published' : 'lostWhileDisconnected');
    if (this.status === 'connected') this.network.route(this, subject, payload, options.reply);
  }

  subscribe(subject: string, handler: BusHandler, options: SubscribeOptions = {}): BusSubscription {
    const subscription = new SimulatedSubscription(this, subject, handler, options.queue);
    this.subscriptions.add(subscription);
    this.network.subscriptionsChanged();
    return subscription;
  }

  forget(subscription: SimulatedSubscription): void {
    this.subscriptions.delete(subscription);
    this.network.subscriptionsChanged();
  }

  request(subject: string, payload: Uint8Array, options: { timeoutMs: number }): Promise<BusMessage> {
    this.numRequests += 1;
    const reply = `_private.${this.name}.${this.numRequests}`;
    return new Promise((resolve, reject) => {
      const end = (action: () => void): void => {
        inbox.unsubscribe();
        timer.cancel();
        action();
      };
      const inbox = this.subscribe(reply, (message) =>
        end(() =>
          message.isNoResponders
            ? reject(new TokenrailError('no_responders', `nobody listens on ${subject}`))
            : resolve(message),
        ),
      );
      const timer = this.clock.setTimer(options.timeoutMs, () =>
        end(() => reject(new TokenrailError('bus_timeout', `no answer on ${subject}`))),
      );
      this.publish(subject, payload, { reply });
    });
  }

  flush(): Promise<void> {
    return new Promise((resolve) => this.clock.setTimer(0, resolve));
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  counters(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.counts);
  }

  close(): Promise<void> {
    this.network.remove(this);
    this.setStatus('closed');
    return Promise.resolve();
  }

  /** An outage: nothing leaves and nothing arrives until {@link reconnect}. */
  disconnect(): void {
    this.network.remove(this);
    this.setStatus('disconnected');
  }

  reconnect(): void {
    this.network.attach(this);
    this.setStatus('connected');
  }

  count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  private setStatus(status: BusStatus): void {
    this.status = status;
    for (const listener of this.listeners) listener(status);
  }
}
