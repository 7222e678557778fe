import { TokenrailError } from '../core/errors.ts';
import { encodeFrame } from './codec.ts';
import type { Message } from './messages.ts';
import { MAX_FRAME_BYTES, MAX_MESSAGES_PER_FRAME } from './wire/limits.ts';

/** The error for a message that no frame of this bus can carry. */
function tooLarge(message: Message, sizeBytes: number, limitBytes: number): TokenrailError {
  const rid = 'rid' in message ? ` of request ${message.rid}` : '';
  return new TokenrailError(
    'payload_over_bus_limit',
    `${message.kind}${rid} takes ${sizeBytes} bytes, the bus carries ${limitBytes} bytes per message`,
  );
}

/**
 * Encodes `messages` into as few frames as halving gives, each at most `maxPayloadBytes` long, in order.
 *
 * `onTooLarge` is called for a message that exceeds the limit alone, and the others go on; without it the
 * error is thrown.
 *
 * @throws TokenrailError `payload_over_bus_limit`, naming kind, request and sizes
 */
export function splitFrames(
  messages: readonly Message[],
  maxPayloadBytes: number,
  onTooLarge?: (message: Message, error: TokenrailError) => void,
): Uint8Array[] {
  const limitBytes = Math.min(maxPayloadBytes, MAX_FRAME_BYTES);
  const frames: Uint8Array[] = [];
  const place = (group: readonly Message[]): void => {
    const [first] = group;
    if (first === undefined) return;
    const bytes = group.length <= MAX_MESSAGES_PER_FRAME ? encodeFrame(group) : undefined;
    if (bytes !== undefined && bytes.length <= limitBytes) {
      frames.push(bytes);
    } else if (bytes !== undefined && group.length === 1) {
      const error = tooLarge(first, bytes.length, limitBytes);
      if (onTooLarge === undefined) throw error;
      onTooLarge(first, error);
    } else {
      const middle = Math.ceil(group.length / 2);
      place(group.slice(0, middle));
      place(group.slice(middle));
    }
  };
  place(messages);
  return frames;
}
