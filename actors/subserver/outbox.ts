import { toTokenrailError, type TokenrailError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Bus } from '../../transport/bus.ts';
import type { Message } from '../../transport/messages.ts';
import { splitFrames } from '../../transport/split-frames.ts';

interface Parcel {
  subject: string;
  reply: string | undefined;
  messages: Message[];
  /** Nobody waits for any of its messages. */
  isDeferrable: boolean;
}

/** A message, what its size led to, and what that led to. */
const MAX_ROUNDS = 4;

/**
 * Collects what one instant has to say and sends one frame per destination (more only where a frame would
 * exceed the bus's largest payload).
 */
export class Outbox {
  private readonly bus: Bus;
  private readonly logger: Logger;
  private readonly onTooLarge: (message: Message, error: TokenrailError) => void;
  private parcels = new Map<string, Parcel>();
  private numAlone = 0;

  /** @param onTooLarge told of every message that no frame can carry */
  constructor(bus: Bus, logger: Logger, onTooLarge: (message: Message, error: TokenrailError) => void) {
    this.bus = bus;
    this.logger = logger;
    this.onTooLarge = onTooLarge;
  }

  /** False during an outage: what is sent then is lost without an error. */
  get isConnected(): boolean {
    return this.bus.status === 'connected';
  }

  /** Calls `listener` whenever an outage is over. */
  onReconnect(listener: () => void): void {
    this.bus.onStatus((status) => {
      if (status === 'connected') listener();
    });
  }

  post(subject: string, message: Message, reply?: string): void {
    const key = reply === undefined ? subject : `${subject} ${reply}`;
    const parcel = this.parcels.get(key);
    if (parcel) {
      parcel.messages.push(message);
      parcel.isDeferrable = false;
    } else this.parcels.set(key, { subject, reply, messages: [message], isDeferrable: false });
  }

  /** Like `post`, for what no step anywhere waits for: {@link flushUrgent} leaves it, unless more follows that is urgent. */
  postDeferrable(subject: string, message: Message): void {
    const parcel = this.parcels.get(subject);
    if (parcel) parcel.messages.push(message);
    else this.parcels.set(subject, { subject, reply: undefined, messages: [message], isDeferrable: true });
  }

  /** In a frame of its own: a queue group gives each frame to one member, and messages to any member must spread. */
  postAlone(subject: string, message: Message, reply: string): void {
    this.numAlone += 1;
    const parcel = { subject, reply, messages: [message], isDeferrable: false };
    this.parcels.set(`${subject} ${reply} ${this.numAlone}`, parcel);
  }

  /** Sends what others wait for, and keeps the rest for the next `flush`. Never throws. */
  flushUrgent(): void {
    this.sendWhere(({ isDeferrable }) => !isDeferrable);
  }

  /** Never throws: what cannot be sent is logged, and the re-send of the protocol covers it. */
  flush(): void {
    this.sendWhere(() => true);
  }

  private sendWhere(isDue: (parcel: Parcel) => boolean): void {
    // What is too large for the bus ends its request, and that posts again: such a message has no sequel.
    for (let round = 0; round < MAX_ROUNDS && this.parcels.size > 0; round += 1) {
      const due = [...this.parcels].filter(([, parcel]) => isDue(parcel));
      for (const [key] of due) this.parcels.delete(key);
      for (const [, parcel] of due) this.send(parcel);
    }
  }

  private send({ subject, reply, messages }: Parcel): void {
    const options = reply === undefined ? undefined : { reply };
    try {
      for (const frame of splitFrames(messages, this.bus.maxPayloadBytes, this.onTooLarge))
        this.bus.publish(subject, frame, options);
    } catch (thrown) {
      this.logger.warn({ subject, code: toTokenrailError(thrown).code }, 'publish failed');
    }
  }
}
