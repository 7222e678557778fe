import type {
  Bus,
  BusHandler,
  BusMessage,
  BusSubscription,
  PublishOptions,
  SubscribeOptions,
} from '../../transport/bus.ts';

/** Passes everything on to a real bus and sums up the time that its owner's thread spends in it. */
export class BusMeter implements Bus {
  /** Time inside `publish`, in milliseconds. */
  publishMs = 0;
  /** Time inside handlers of messages, decoding included, in milliseconds. */
  handlerMs = 0;
  private readonly bus: Bus;

  constructor(bus: Bus) {
    this.bus = bus;
  }

  get maxPayloadBytes(): number {
    return this.bus.maxPayloadBytes;
  }

  get status(): Bus['status'] {
    return this.bus.status;
  }

  get brokerName(): string {
    return this.bus.brokerName;
  }

  publish(subject: string, payload: Uint8Array, options?: PublishOptions): void {
    const startMs = performance.now();
    this.bus.publish(subject, payload, options);
    this.publishMs += performance.now() - startMs;
  }

  subscribe(subject: string, handler: BusHandler, options?: SubscribeOptions): BusSubscription {
    const timed = (message: BusMessage): void => {
      const startMs = performance.now();
      try {
        handler(message);
      } finally {
        this.handlerMs += performance.now() - startMs;
      }
    };
    return this.bus.subscribe(subject, timed, options);
  }

  request(subject: string, payload: Uint8Array, options: { timeoutMs: number }): Promise<BusMessage> {
    return this.bus.request(subject, payload, options);
  }

  flush(): Promise<void> {
    return this.bus.flush();
  }

  onStatus(listener: Parameters<Bus['onStatus']>[0]): () => void {
    return this.bus.onStatus(listener);
  }

  counters(): Readonly<Record<string, number>> {
    return this.bus.counters();
  }

  close(): Promise<void> {
    return this.bus.close();
  }
}
