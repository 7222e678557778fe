import type { Clock, Timer } from '../core/clock.ts';
import { TokenrailError } from '../core/errors.ts';
import type { Bus, BusMessage } from './bus.ts';
import { lastToken } from './subjects.ts';

interface PendingRequest {
  subject: string;
  resolve: (answer: BusMessage) => void;
  reject: (error: TokenrailError) => void;
  timer: Timer;
}

/**
 * Request and answer over one wildcard subscription, made at the first request. A subscription per request
 * would churn the broker's tables; the client's own requests would not end at a disconnect, and a malformed
 * header in an answer would stop its read loop.
 */
export class RequestInbox {
  private readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  private readonly prefix: string;
  private readonly clock: Clock;
  private readonly pending = new Map<string, PendingRequest>();
  private isSubscribed = false;
  private requestsSoFar = 0;

  /** `prefix`: a subject of this connection alone, without wildcards. */
  constructor(bus: Pick<Bus, 'publish' | 'subscribe'>, prefix: string, clock: Clock) {
    this.bus = bus;
    this.prefix = prefix;
    this.clock = clock;
  }

  /**
   * Resolves with the first answer; later ones are ignored.
   * @throws TokenrailError `no_responders`, `bus_timeout`, whatever `publish` throws, and what `failAll` is given
   */
  request(subject: string, payload: Uint8Array, timeoutMs: number): Promise<BusMessage> {
    return new Promise((resolve, reject) => {
      if (!this.isSubscribed) this.bus.subscribe(`${this.prefix}.*`, (message) => this.onAnswer(message));
      this.isSubscribed = true;
      this.requestsSoFar += 1;
      const tag = this.requestsSoFar.toString(36);
      this.bus.publish(subject, payload, { reply: `${this.prefix}.${tag}` });
      const timer = this.clock.setTimer(timeoutMs, () => {
        this.take(tag)?.reject(
          new TokenrailError('bus_timeout', `no answer from ${subject} in ${timeoutMs} ms`),
        );
      });
      this.pending.set(tag, { subject, resolve, reject, timer });
    });
  }

  /** Ends every open request: the answers cannot come any more. */
  failAll(error: TokenrailError): void {
    for (const tag of [...this.pending.keys()]) this.take(tag)?.reject(error);
  }

  private onAnswer(message: BusMessage): void {
    const request = this.take(lastToken(message.subject));
    if (request === undefined) return;
    if (!message.isNoResponders) request.resolve(message);
    else request.reject(new TokenrailError('no_responders', `nobody listens on ${request.subject}`));
  }

  private take(tag: string): PendingRequest | undefined {
    const request = this.pending.get(tag);
    request?.timer.cancel();
    this.pending.delete(tag);
    return request;
  }
}
