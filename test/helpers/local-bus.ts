import { TokenrailError } from '../../core/errors.ts';
import type {
  Bus,
  BusHandler,
  BusMessage,
  BusStatus,
  BusSubscription,
  PublishOptions,
  SubscribeOptions,
} from '../../transport/bus.ts';

interface Subscriber {
  owner: LocalBus;
  subject: string;
  handler: BusHandler;
  queue: string | undefined;
}

/** Whether `subject` falls under `pattern` with NATS wildcards. */
export function subjectMatches(pattern: string, subject: string): boolean {
  const want = pattern.split('.');
  const have = subject.split('.');
  const rest = want.indexOf('>');
  if (rest === -1 && want.length !== have.length) return false;
  if (rest !== -1 && have.length <= rest) return false;
  return want.every(
    (token, index) =>
      token === '>' || (rest !== -1 && index > rest) || token === '*' || token === have[index],
  );
}

/**
 * A broker within the process, for tests of actors: asynchronous, in order, with wildcards, queue groups,
 * "no responders" and a payload limit. Encoding is the caller's, so frames are real.
 */
export class LocalBroker {
  readonly subscribers = new Set<Subscriber>();
  /** Everything published, for assertions. */
  readonly published: { subject: string; payload: Uint8Array; reply: string | undefined }[] = [];
  maxPayloadBytes = 1_048_576;
  private queue: (() => void)[] = [];
  private scheduled = false;
  private turn = 0;

  connect(): LocalBus {
    return new LocalBus(this);
  }

  /** Runs `task` after everything queued before it. */
  enqueue(task: () => void): void {
    this.queue.push(task);
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      for (const next of this.queue.splice(0)) next();
    });
  }

  deliver(subject: string, payload: Uint8Array, reply: string | undefined): void {
    const matching = [...this.subscribers].filter(
      (s) => subjectMatches(s.subject, subject) && s.owner.status === 'connected',
    );
    const groups = new Map<string, Subscriber[]>();
    const chosen = matching.filter((s) => s.queue === undefined);
    for (const s of matching)
      if (s.queue !== undefined) groups.set(s.queue, [...(groups.get(s.queue) ?? []), s]);
    for (const members of groups.values()) {
      const member = members[this.turn++ % members.length];
      if (member !== undefined) chosen.push(member);
    }
    if (chosen.length === 0 && reply !== undefined) {
      this.hand(reply, { subject: reply, payload: new Uint8Array(0), isNoResponders: true });
      return;
    }
    const message: BusMessage = {
      subject,
      payload,
      isNoResponders: false,
      ...(reply === undefined ? {} : { reply }),
    };
    for (const subscriber of chosen) subscriber.owner.handle(subscriber.handler, message);
  }

  private hand(subject: string, message: BusMessage): void {
    for (const s of [...this.subscribers]) {
      if (subjectMatches(s.subject, subject)) s.owner.handle(s.handler, message);
    }
  }
}

export class LocalBus implements Bus {
  readonly brokerName = 'local broker';
  status: BusStatus = 'connected';
  private readonly broker: LocalBroker;
  private readonly counts = {
    published: 0,
    received: 0,
    lostWhileDisconnected: 0,
    handlerErrors: 0,
    reconnects: 0,
  };
  private readonly listeners = new Set<(status: BusStatus) => void>();

  constructor(broker: LocalBroker) {
    this.broker = broker;
  }

  get maxPayloadBytes(): number {
    return this.broker.maxPayloadBytes;
  }

  publish(subject: string, payload: Uint8Array, options: PublishOptions = {}): void {
    if (this.status === 'closed') throw new TokenrailError('bus_unavailable', 'the bus is closed');
    if (payload.byteLength > this.maxPayloadBytes)
      throw new TokenrailError('payload_over_bus_limit', 'too large');
    if (this.status === 'disconnected') {
      this.counts.lostWhileDisconnected += 1;
      return;
    }
    this.counts.published += 1;
    const copy = payload.slice();
    this.broker.published.push({ subject, payload: copy, reply: options.reply });
    this.broker.enqueue(() => this.broker.deliver(subject, copy, options.reply));
  }

  subscribe(subject: string, handler: BusHandler, options: SubscribeOptions = {}): BusSubscription {
    const subscriber: Subscriber = { owner: this, subject, handler, queue: options.queue };
    this.broker.subscribers.add(subscriber);
    const unsubscribe = (): void => void this.broker.subscribers.delete(subscriber);
    const drain = async (): Promise<void> => {
      await this.flush();
      unsubscribe();
    };
    return { subject, unsubscribe, drain };
  }

  request(): Promise<BusMessage> {
    return Promise.reject(
      new TokenrailError('illegal_state', 'request is not used by the actors under test'),
    );
  }

  flush(): Promise<void> {
    return new Promise((resolve) => this.broker.enqueue(resolve));
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  counters(): Readonly<Record<string, number>> {
    return this.counts;
  }

  async close(): Promise<void> {
    if (this.status !== 'closed') await this.flush();
    this.setStatus('closed');
  }

  setStatus(status: BusStatus): void {
    this.status = status;
    for (const listener of this.listeners) listener(status);
  }

  handle(handler: BusHandler, message: BusMessage): void {
    this.counts.received += 1;
    try {
      handler(message);
    } catch {
      this.counts.handlerErrors += 1;
    }
  }
}
