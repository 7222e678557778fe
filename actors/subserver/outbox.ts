import { toTokenrailError, type TokenrailError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Bus } from '../../transport/bus.ts';
import type { Message } from '../../transport/messages.ts';
import { splitFrames } from '../../transport/split-frames.ts';

interface Parcel {
  subject: string;
  reply: string | undefined;
  messages: Message[];
}

/**
 * Collects what one instant has to say and sends one frame per destination (more only where a frame would
 * exceed the bus's largest payload).
 */
export class Outbox {
  private readonly bus: Bus;
  private readonly logger: Logger;
  private readonly onTooLarge: (message: Message, error: TokenrailError) => void;
  private parcels = new Map<string, Parcel>();

  /** @param onTooLarge told of every message that no frame can carry */
  constructor(bus: Bus, logger: Logger, onTooLarge: (message: Message, error: TokenrailError) => void) {
    this.bus = bus;
    this.logger = logger;
    this.onTooLarge = onTooLarge;
  }

  post(subject: string, message: Message, reply?: string): void {
    const key = reply === undefined ? subject : `${subject} ${reply}`;
    const parcel = this.parcels.get(key);
    if (parcel) parcel.messages.push(message);
    else this.parcels.set(key, { subject, reply, messages: [message] });
  }

  flush(): void {
    if (this.parcels.size === 0) return;
    const parcels = this.parcels;
    this.parcels = new Map();
    for (const parcel of parcels.values()) this.send(parcel);
  }

  private send({ subject, reply, messages }: Parcel): void {
    const options = reply === undefined ? undefined : { reply };
    for (const frame of splitFrames(messages, this.bus.maxPayloadBytes, this.onTooLarge)) {
      try {
        this.bus.publish(subject, frame, options);
      } catch (thrown) {
        // Closed or shrunk bus: the re-send of the protocol covers what is lost here.
        this.logger.warn({ subject, code: toTokenrailError(thrown).code }, 'publish failed');
      }
    }
  }
}
