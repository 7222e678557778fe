import type { NatsConnection, Subscription } from 'nats';
import type { Clock } from '../core/clock.ts';
import { TokenrailError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type {
  Bus,
  BusHandler,
  BusMessage,
  BusStatus,
  BusSubscription,
  PublishOptions,
  SubscribeOptions,
} from './bus.ts';
import { EMBEDDED_BROKER_NAME } from './embedded-broker/protocol.ts';
import { guardHandler } from './guarded-handler.ts';
import { toBusError } from './nats-errors.ts';
import { toBusMessage, toMsgHdrs } from './nats-message.ts';
import { followStatus } from './nats-status.ts';
import { RequestInbox } from './request-inbox.ts';

export interface NatsBusParts {
  connection: NatsConnection;
  clock: Clock;
  logger: Logger;
  /** Prefix of the subjects for answers to requests, of this connection alone. */
  inboxPrefix: string;
  /** How long `close` may take to flush, in milliseconds. */
  closeTimeoutMs: number;
  /** Called with every change of status, before the listeners. */
  onStatusChange: (status: BusStatus) => void;
}

/** White space in a subject would be read as the next argument of the protocol's line. */
function checkSubject(subject: string): void {
  if (subject === '' || /\s/.test(subject)) {
    throw new TokenrailError('illegal_state', `not a subject: ${JSON.stringify(subject)}`);
  }
}

/** The {@link Bus} over a connection of the `nats` client. Made by `connectNats`. */
export class NatsBus implements Bus {
  private readonly parts: NatsBusParts;
  private readonly connection: NatsConnection;
  private readonly inbox: RequestInbox;
  private readonly listeners = new Set<(status: BusStatus) => void>();
  private readonly counts = {
    published: 0,
    received: 0,
    lostWhileDisconnected: 0,
    handlerErrors: 0,
    malformed: 0,
    reconnects: 0,
  };
  private currentStatus: BusStatus = 'connected';
  private lastMaxPayloadBytes = 0;
  private lastBrokerName = '';
  private closing: Promise<void> | undefined;

  constructor(parts: NatsBusParts) {
    this.parts = parts;
    this.connection = parts.connection;
    this.inbox = new RequestInbox(this, parts.inboxPrefix, parts.clock);
    this.readInfo();
    followStatus(this.connection, parts.logger, (status) => this.setStatus(status));
  }

  get status(): BusStatus {
    return this.currentStatus;
  }

  get maxPayloadBytes(): number {
    this.readInfo();
    return this.lastMaxPayloadBytes;
  }

  get brokerName(): string {
    return this.lastBrokerName;
  }

  publish(subject: string, payload: Uint8Array, options?: PublishOptions): void {
    if (this.currentStatus === 'closed') throw this.unavailable('closed');
    checkSubject(subject);
    this.checkSize(subject, payload.length);
    if (this.currentStatus === 'disconnected') {
      // The client would queue it without a limit and throw the queue away at its next attempt to connect.
      this.counts.lostWhileDisconnected += 1;
      return;
    }
    try {
      if (options === undefined) this.connection.publish(subject, payload);
      else this.connection.publish(subject, payload, this.toNatsOptions(options));
    } catch (thrown) {
      throw toBusError(thrown, `publish to ${subject}`);
    }
    this.counts.published += 1;
  }

  subscribe(subject: string, handler: BusHandler, options: SubscribeOptions = {}): BusSubscription {
    if (this.currentStatus === 'closed') throw this.unavailable('closed');
    checkSubject(subject);
    const deliver = guardHandler(handler, this.counts, this.parts.logger);
    let subscription: Subscription;
    try {
      subscription = this.connection.subscribe(subject, {
        ...(options.queue === undefined ? {} : { queue: options.queue }),
        callback: (error, msg) => {
          if (error !== null)
            this.parts.logger.error({ subject, err: error }, 'the broker refuses a subscription');
          else this.receive(msg, deliver);
        },
      });
    } catch (thrown) {
      throw toBusError(thrown, `subscribe to ${subject}`);
    }
    return {
      subject,
      unsubscribe: () => {
        if (!subscription.isClosed()) subscription.unsubscribe();
      },
      drain: () => this.drain(subscription),
    };
  }

  async request(subject: string, payload: Uint8Array, options: { timeoutMs: number }): Promise<BusMessage> {
    if (this.currentStatus !== 'connected') throw this.unavailable(this.currentStatus);
    return this.inbox.request(subject, payload, options.timeoutMs);
  }

  async flush(): Promise<void> {
    if (this.currentStatus !== 'connected') throw this.unavailable(this.currentStatus);
    try {
      await this.connection.flush();
    } catch (thrown) {
      throw toBusError(thrown, 'flush');
    }
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  counters(): Readonly<Record<string, number>> {
    return { ...this.counts };
  }

  close(): Promise<void> {
    return (this.closing ??= this.shutDown());
  }

  /** Handlers run inside the client's read turn: when the flush of a drain returns, they all have run. */
  private async drain(subscription: Subscription): Promise<void> {
    if (subscription.isClosed() || this.currentStatus === 'closed') return;
    if (this.currentStatus === 'disconnected') subscription.unsubscribe();
    else await subscription.drain().catch(() => {});
  }

  private async shutDown(): Promise<void> {
    this.inbox.failAll(this.unavailable('closing'));
    if (this.currentStatus === 'connected') {
      await new Promise<void>((resolve) => {
        const timer = this.parts.clock.setTimer(this.parts.closeTimeoutMs, resolve);
        const done = (): void => {
          timer.cancel();
          resolve();
        };
        this.connection.drain().then(done, done);
      });
    }
    // Still open after a drain that was cut off by a disconnect or by the time limit.
    if (!this.connection.isClosed()) await this.connection.close();
    this.setStatus('closed');
  }

  private setStatus(status: BusStatus): void {
    if (this.currentStatus === status || this.currentStatus === 'closed') return;
    this.currentStatus = status;
    if (status === 'connected') {
      this.counts.reconnects += 1;
      this.readInfo();
    } else {
      this.inbox.failAll(this.unavailable(status));
    }
    this.parts.onStatusChange(status);
    for (const listener of [...this.listeners]) {
      try {
        listener(status);
      } catch (thrown) {
        this.counts.handlerErrors += 1;
        this.parts.logger.error({ err: thrown }, 'a status listener threw');
      }
    }
  }

  private receive(msg: Parameters<typeof toBusMessage>[0], deliver: BusHandler): void {
    let message: BusMessage;
    try {
      message = toBusMessage(msg);
    } catch {
      this.counts.malformed += 1;
      return;
    }
    deliver(message);
  }

  /** The client forgets the server's INFO while it reconnects; the last one counts until then. */
  private readInfo(): void {
    const info = this.connection.info;
    if (info === undefined) return;
    this.lastMaxPayloadBytes = info.max_payload;
    this.lastBrokerName =
      info.server_name === EMBEDDED_BROKER_NAME ? 'embedded broker' : `nats-server ${info.version}`;
  }

  private checkSize(subject: string, sizeBytes: number): void {
    const limitBytes = this.maxPayloadBytes;
    if (sizeBytes <= limitBytes) return;
    const text = `${sizeBytes} bytes for ${subject}, the bus carries ${limitBytes} bytes per message`;
    throw new TokenrailError('payload_over_bus_limit', text);
  }

  private toNatsOptions({ reply, headers }: PublishOptions): {
    reply?: string;
    headers?: ReturnType<typeof toMsgHdrs>;
  } {
    if (reply !== undefined) checkSubject(reply);
    return {
      ...(reply === undefined ? {} : { reply }),
      ...(headers === undefined ? {} : { headers: toMsgHdrs(headers) }),
    };
  }

  private unavailable(state: string): TokenrailError {
    return new TokenrailError('bus_unavailable', `the message bus is ${state}`);
  }
}
