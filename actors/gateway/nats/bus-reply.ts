import type { Bus } from '../../../transport/bus.ts';
import { TokenrailError } from '../../../core/errors.ts';
import { encodeClientObject, type ClientFormat } from '../../../transport/client-codec.ts';
import { errorBody } from '../openai/error-body.ts';
import type { StreamSink } from '../openai/streamed-answer.ts';
import type { WholeSink } from '../openai/whole-answer.ts';

export interface BusReplyTarget {
  bus: Bus;
  /** Where the client listens. */
  subject: string;
  format: ClientFormat;
  /** Our inbox; the broker's 503 there says that the client has gone. */
  ownInbox: string;
}

const NOTHING = new Uint8Array(0);

/** An answer in one piece: one object, and no terminator. */
export class BusWholeReply implements WholeSink {
  private readonly target: BusReplyTarget;

  constructor(target: BusReplyTarget) {
    this.target = target;
  }

  reply(object: object): void {
    const { bus, subject, format, ownInbox } = this.target;
    const payload = encodeClientObject(object, format);
    if (payload.byteLength > bus.maxPayloadBytes) {
      return this.fail(
        new TokenrailError(
          'payload_over_bus_limit',
          'The answer does not fit one message; ask for a stream.',
        ),
      );
    }
    bus.publish(subject, payload, { reply: ownInbox });
  }

  fail(error: TokenrailError): void {
    this.reply(errorBody(error));
  }
}

/** A stream: the objects of the SSE stream, each a message, then an empty message without headers. */
export class BusStreamReply implements StreamSink {
  private readonly target: BusReplyTarget;
  private ended = false;

  constructor(target: BusReplyTarget) {
    this.target = target;
  }

  open(): void {}

  chunk(object: object): void {
    if (this.ended) return;
    const { bus, subject, format, ownInbox } = this.target;
    bus.publish(subject, encodeClientObject(object, format), { reply: ownInbox });
  }

  fail(error: TokenrailError): void {
    this.chunk(errorBody(error));
    this.end();
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.target.bus.publish(this.target.subject, NOTHING);
  }
}
