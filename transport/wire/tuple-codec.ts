import type { Message, MessageKind } from '../messages.ts';
import type { TupleReader } from './tuple-reader.ts';

type MessageOf<K extends MessageKind> = Extract<Message, { kind: K }>;

/** How one kind of message becomes the elements of a tuple (after the kind number) and comes back. */
export interface TupleCodec<K extends MessageKind> {
  /** Optional fields stand last and are nil when absent; trailing nils are cut off by the caller. */
  pack(message: MessageOf<K>): unknown[];
  /** Reads and checks every field; the result counts only while `reader.failed` is undefined. */
  read(reader: TupleReader): MessageOf<K>;
}

/** Text for people, cut to what receivers accept. */
export function cutText(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
}

/**
 * Adds an optional field only where it has a value: receivers tell "absent" by the missing key, and an
 * object without undefined members compares and serializes the same before and after the wire.
 */
export function withOptional<T extends object>(message: T, optional: Partial<T>): T {
  for (const key of Object.keys(optional) as (keyof T)[]) {
    const value = optional[key];
    if (value !== undefined) message[key] = value;
  }
  return message;
}
