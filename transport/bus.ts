/** One message as a subscriber sees it. `payload` belongs to the receiver: it is never reused or changed. */
export interface BusMessage {
  subject: string;
  payload: Uint8Array;
  /** Where an answer goes, if the sender wants one. */
  reply?: string;
  headers?: Readonly<Record<string, string>>;
  /** True for the broker's own "503": nobody listens on the subject this inbox's message was published to. */
  isNoResponders: boolean;
}

export type BusHandler = (message: BusMessage) => void;

export interface SubscribeOptions {
  /** Name of the queue group: each message goes to one member of it. */
  queue?: string;
}

export interface PublishOptions {
  /** Subject for answers. With it the broker reports "no responders" to that subject. */
  reply?: string;
  headers?: Readonly<Record<string, string>>;
}

export interface BusSubscription {
  readonly subject: string;
  /** Stops delivery at once. Idempotent. */
  unsubscribe(): void;
  /** Unsubscribes at the broker, then resolves once everything already delivered here has been handled. */
  drain(): Promise<void>;
}

export type BusStatus = 'connected' | 'disconnected' | 'closed';

/**
 * Publish/subscribe with at-most-once delivery, ordered per publisher (core NATS). Handlers are called on
 * the loop of the caller's thread, one at a time; what a handler throws is counted and logged, never
 * propagated: a throw inside the client's read loop would stop every subscription.
 */
export interface Bus {
  /** Largest payload the broker takes, in bytes. May change with a reconnect. */
  readonly maxPayloadBytes: number;
  readonly status: BusStatus;
  /** One word or two for people: `nats-server 2.9.10` or `embedded broker`. */
  readonly brokerName: string;
  /**
   * Hands a message to the client. Fire and forget: while disconnected the message is counted as lost and
   * dropped. The bytes must not be changed afterwards.
   * @throws TokenrailError `payload_over_bus_limit`, `bus_unavailable` after `close`
   */
  publish(subject: string, payload: Uint8Array, options?: PublishOptions): void;
  /** Wildcards `*` (one token) and `>` (the rest) are allowed. */
  subscribe(subject: string, handler: BusHandler, options?: SubscribeOptions): BusSubscription;
  /**
   * Publishes with a private inbox and resolves with the first answer.
   * @throws TokenrailError `no_responders`, `bus_timeout`, `payload_over_bus_limit`, `bus_unavailable`
   */
  request(subject: string, payload: Uint8Array, options: { timeoutMs: number }): Promise<BusMessage>;
  /** Resolves when the broker has seen everything published before. */
  flush(): Promise<void>;
  /** Calls `listener` on every change of {@link Bus.status}; returns the way to stop it. */
  onStatus(listener: (status: BusStatus) => void): () => void;
  /** Counters since start: `published`, `received`, `lostWhileDisconnected`, `handlerErrors`, `reconnects`. */
  counters(): Readonly<Record<string, number>>;
  /** Flushes what was published and closes. A second call returns the same promise. */
  close(): Promise<void>;
}
