import { Packr, Unpackr } from 'msgpackr';
import { PROTOCOL_VERSION, type Message } from './messages.ts';
import { packMessage, readMessage } from './wire/kinds.ts';
import { MAX_FRAME_BYTES, MAX_MESSAGES_PER_FRAME } from './wire/limits.ts';
import { isPlainMsgpack } from './wire/msgpack-guard.ts';

/**
 * Frames: `[PROTOCOL_VERSION, [tuple, …]]` in msgpack. Records stay off on both sides: one record definition
 * in a message would rewrite the decoder's table and give later messages wrong keys without an error.
 */
const packr = new Packr({ useRecords: false });
const unpackr = new Unpackr({ useRecords: false, int64AsType: 'number' });

/**
 * Why messages of a frame were dropped. `too-large` and `malformed`: the frame as a whole. `version`: another
 * protocol version. `unknown-kind`, `invalid-field`: single messages; the rest of the frame is kept.
 */
export type DropReason = 'too-large' | 'malformed' | 'version' | 'unknown-kind' | 'invalid-field';

export interface DecodedFrame {
  messages: Message[];
  /** Messages that did not pass; a frame that cannot be read at all counts as one. */
  dropped: number;
  /** Why the first of them was dropped. */
  reason?: DropReason;
  /** For logs: the field at fault, such as `peer-req.suffix`, or the other version. Never content. */
  detail?: string;
}

/**
 * One frame with all `messages`, whatever its size (see `splitFrames` for the limits of the bus). The bytes
 * share a buffer with other frames: hand them on whole and never change them.
 */
export function encodeFrame(messages: readonly Message[]): Uint8Array {
  return packr.pack([PROTOCOL_VERSION, messages.map(packMessage)]);
}

const refuse = (reason: DropReason, dropped = 1, detail?: string): DecodedFrame =>
  detail === undefined ? { messages: [], dropped, reason } : { messages: [], dropped, reason, detail };

function unpack(bytes: Uint8Array): unknown {
  try {
    return unpackr.unpack(bytes);
  } catch {
    return undefined;
  }
}

function readTuples(tuples: readonly unknown[]): DecodedFrame {
  const frame: DecodedFrame = { messages: [], dropped: 0 };
  for (const tuple of tuples) {
    const result = readMessage(tuple);
    if ('message' in result) {
      frame.messages.push(result.message);
      continue;
    }
    frame.dropped += 1;
    if (frame.reason !== undefined) continue;
    frame.reason = 'unknownKind' in result ? 'unknown-kind' : 'invalid-field';
    if ('invalidField' in result) frame.detail = result.invalidField;
  }
  return frame;
}

/**
 * Reads a frame from the wire. Never throws, whatever the bytes: what does not pass is dropped and counted,
 * and everything returned was checked field by field and copied into new objects.
 */
export function decodeFrame(bytes: Uint8Array): DecodedFrame {
  if (bytes.length > MAX_FRAME_BYTES) return refuse('too-large');
  if (!isPlainMsgpack(bytes)) return refuse('malformed');
  const frame = unpack(bytes);
  if (!Array.isArray(frame) || !Number.isInteger(frame[0])) return refuse('malformed');
  const version = frame[0] as number;
  const tuples: unknown = frame[1];
  const count = Array.isArray(tuples) ? Math.max(1, tuples.length) : 1;
  if (version !== PROTOCOL_VERSION) return refuse('version', count, `version ${version}`);
  if (!Array.isArray(tuples) || tuples.length > MAX_MESSAGES_PER_FRAME) return refuse('malformed', count);
  return readTuples(tuples);
}
