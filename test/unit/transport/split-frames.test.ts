import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { decodeFrame, encodeFrame } from '../../../transport/codec.ts';
import type { Message } from '../../../transport/messages.ts';
import { splitFrames } from '../../../transport/split-frames.ts';
import { MAX_MESSAGES_PER_FRAME } from '../../../transport/wire/limits.ts';
import { messageArbitrary } from '../../helpers/message-arbitraries.ts';

const tokens = (rid: string, count: number): Message => {
  const ids = Array.from({ length: count }, (_, i) => i);
  return {
    kind: 'tokens',
    rid,
    term: 0,
    position: 0,
    ids,
    origins: { models: ids.map(() => 1), signals: ids.map(() => 0) },
  };
};

const decodeAll = (frames: readonly Uint8Array[]): Message[] =>
  frames.flatMap((bytes) => decodeFrame(bytes).messages);

describe('splitFrames', () => {
  test('frames fit the limit and carry every message in order', () => {
    fc.assert(
      fc.property(fc.array(messageArbitrary, { maxLength: 30 }), (messages) => {
        const limit = Math.max(200, ...messages.map((message) => encodeFrame([message]).length));
        const frames = splitFrames(messages, limit);
        expect(frames.every((bytes) => bytes.length <= limit)).toBe(true);
        expect(decodeAll(frames)).toStrictEqual(messages);
      }),
      { numRuns: 60 },
    );
  });

  test('what fits in one frame goes into one; nothing gives no frame', () => {
    expect(splitFrames([tokens('a', 3), tokens('b', 3)], 1024).length).toBe(1);
    expect(splitFrames([], 1024)).toEqual([]);
  });

  test('the limit is exact: at it the message passes, one byte less refuses it', () => {
    const message = tokens('req-1', 1000);
    const size = encodeFrame([message]).length;
    expect(splitFrames([message], size).length).toBe(1);
    let thrown: unknown;
    try {
      splitFrames([message], size - 1);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(TokenrailError);
    const error = thrown as TokenrailError;
    expect(error.code).toBe('payload_over_bus_limit');
    for (const part of ['tokens', 'req-1', String(size), String(size - 1)])
      expect(error.message).toContain(part);
  });

  test('with a handler, one message too large does not hold up the others', () => {
    const refused: string[] = [];
    const group = [tokens('a', 5), tokens('big', 5000), tokens('b', 5)];
    const frames = splitFrames(group, 2000, (message, error) =>
      refused.push(`${message.kind} ${error.code}`),
    );
    expect(decodeAll(frames)).toStrictEqual([group[0], group[2]]);
    expect(refused).toEqual(['tokens payload_over_bus_limit']);
  });

  test('more messages than one frame may hold are spread over several', () => {
    const group = Array.from({ length: MAX_MESSAGES_PER_FRAME + 1 }, (): Message => ({ kind: 'probe' }));
    const frames = splitFrames(group, 1 << 20);
    expect(frames.length).toBe(2);
    expect(decodeAll(frames).length).toBe(group.length);
  });
});
