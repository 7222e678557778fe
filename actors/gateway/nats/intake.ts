import { TokenrailError, toTokenrailError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import type { Bus, BusMessage, BusSubscription } from '../../../transport/bus.ts';
import { clientFormatOf, decodeClientRequest } from '../../../transport/client-codec.ts';
import type { Subjects } from '../../../transport/subjects.ts';
import type { KeyCheck } from '../auth.ts';
import type { HomeLink } from '../home-link.ts';
import type { BusTraffic } from '../metrics/bus-traffic.ts';
import type { RequestService } from '../request-service.ts';
import { BusFrontend } from './bus-frontend.ts';
import { isClientReply } from './reply-subject.ts';

export interface BusIntakeOptions {
  bus: Bus;
  subjects: Subjects;
  service: RequestService;
  link: HomeLink;
  keys: KeyCheck;
  traffic: BusTraffic;
  logger: Logger;
  bodyLimitBytes: number;
}

/** Requests of clients on the bus: the same fields as over HTTP, answered to the reply subject. */
export class BusIntake {
  private readonly options: BusIntakeOptions;
  private subscription: BusSubscription | undefined;

  constructor(options: BusIntakeOptions) {
    this.options = options;
  }

  start(): void {
    const { bus, subjects } = this.options;
    this.subscription = bus.subscribe(subjects.requests(), (message) => this.receive(message), {
      queue: 'gateway',
    });
  }

  /** Takes no new requests; those already delivered are still handled. */
  async stop(): Promise<void> {
    const { subscription } = this;
    this.subscription = undefined;
    try {
      await subscription?.drain();
    } catch (thrown) {
      // A bus that is gone delivers nothing more either.
      this.options.logger.debug({ err: thrown }, 'the request subscription could not be drained');
    }
  }

  private receive(message: BusMessage): void {
    const { traffic, subjects, logger } = this.options;
    traffic.message('in', 'client-request');
    if (message.reply === undefined) return traffic.dropped('no_reply_subject', 1);
    if (!isClientReply(message.reply, subjects)) return traffic.dropped('reply_subject_refused', 1);
    try {
      this.submit(message, message.reply);
    } catch (thrown) {
      logger.error({ err: thrown }, 'a request from the bus could not be handled');
    }
  }

  private submit(message: BusMessage, replySubject: string): void {
    const { bus, link, service } = this.options;
    const format = clientFormatOf(message.payload);
    const rid = service.newRid();
    const target = { bus, subject: replySubject, format, ownInbox: link.clientInbox(rid) };
    const frontend = new BusFrontend(target);
    try {
      const { kind, body } = this.read(message.payload, frontend);
      service.submit(kind, body, frontend, rid);
    } catch (thrown) {
      frontend.refuse(toTokenrailError(thrown, 'invalid_request'));
    }
  }

  private read(payload: Uint8Array, frontend: BusFrontend): { kind: 'chat' | 'completion'; body: object } {
    const fields = decodeClientRequest(payload, this.options.bodyLimitBytes);
    const { api_key: key, ...body } = fields;
    // On the bus a stream is the default; a client that wants one object says so.
    body['stream'] ??= true;
    frontend.streams = body['stream'] !== false;
    this.options.keys.require(key);
    const hasMessages = body['messages'] !== undefined && body['messages'] !== null;
    const hasPrompt = body['prompt'] !== undefined && body['prompt'] !== null;
    if (hasMessages === hasPrompt) {
      throw new TokenrailError('invalid_request', 'A request has either "messages" or "prompt".', {
        param: 'messages',
      });
    }
    return { kind: hasMessages ? 'chat' : 'completion', body };
  }
}
