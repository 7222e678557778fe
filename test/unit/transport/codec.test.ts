import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import { decodeFrame, encodeFrame } from '../../../transport/codec.ts';
import {
  PROTOCOL_VERSION,
  type Message,
  type MessageKind,
  type PeerReq,
} from '../../../transport/messages.ts';
import { KIND_NUMBERS } from '../../../transport/wire/kinds.ts';
import { messageArbitraries, messageArbitrary } from '../../helpers/message-arbitraries.ts';

const raw = new Packr({ useRecords: false });
const frame = (...tuples: unknown[]): Uint8Array => raw.pack([PROTOCOL_VERSION, tuples]);

const HANDOFF: PeerReq = {
  kind: 'peer-req',
  rid: 'req-7Qm2',
  term: 0,
  hop: 3,
  from: 1,
  fromReplica: 'small-0',
  to: 2,
  suffix: [42],
  loc: 128,
  home: { model: 1, replica: 'small-0' },
};
const HANDOFF_TUPLE = [4, 'req-7Qm2', 0, 3, 1, 'small-0', 2, [42], 128, [1, 'small-0']];

describe('round trip', () => {
  test.each(Object.keys(messageArbitraries) as MessageKind[])('%s comes back as it was', (kind) => {
    fc.assert(
      fc.property(messageArbitraries[kind] as fc.Arbitrary<Message>, (message) => {
        expect(decodeFrame(encodeFrame([message]))).toStrictEqual({ messages: [message], dropped: 0 });
      }),
      { numRuns: 150 },
    );
  });

  test('a frame keeps the order of its messages', () => {
    fc.assert(
      fc.property(fc.array(messageArbitrary, { maxLength: 12 }), (messages) => {
        expect(decodeFrame(encodeFrame(messages))).toStrictEqual({ messages, dropped: 0 });
      }),
      { numRuns: 50 },
    );
  });

  test('the layout of a handoff is the documented one', () => {
    expect(raw.unpack(encodeFrame([HANDOFF]))).toEqual([PROTOCOL_VERSION, [HANDOFF_TUPLE]]);
    expect(decodeFrame(frame(HANDOFF_TUPLE))).toStrictEqual({ messages: [HANDOFF], dropped: 0 });
  });

  test('token ids travel as a list below 16 and as little-endian int32 from there', () => {
    const tokensOf = (length: number): unknown => {
      const suffix = Array.from({ length }, (_, i) => i + 256);
      const decoded = raw.unpack(encodeFrame([{ ...HANDOFF, suffix }])) as [number, unknown[][]];
      return decoded[1][0]?.[7];
    };
    expect(tokensOf(15)).toEqual(Array.from({ length: 15 }, (_, i) => i + 256));
    const packed = tokensOf(16) as Uint8Array;
    expect(packed).toBeInstanceOf(Uint8Array);
    expect([...packed.subarray(0, 8)]).toEqual([0, 1, 0, 0, 1, 1, 0, 0]);
    expect(packed.length).toBe(64);
  });

  test('a NaN signal survives and others keep float32 precision', () => {
    const origins = { models: [1, 2, 1], signals: [NaN, Math.fround(0.3), -Infinity] };
    const message: Message = { kind: 'tokens', rid: 'r', term: 0, position: 5, ids: [7, 8, 9], origins };
    expect(decodeFrame(encodeFrame([message])).messages).toStrictEqual([message]);
  });

  test('what is decoded shares no memory with the frame', () => {
    const suffix = Array.from({ length: 40 }, (_, i) => i);
    const origins = { models: suffix.map(() => 1), signals: suffix.map(() => 0.5) };
    const bytes = Uint8Array.from(encodeFrame([{ ...HANDOFF, suffix, loc: 40, origins }]));
    const { messages } = decodeFrame(bytes);
    bytes.fill(0xff);
    expect(messages).toStrictEqual([{ ...HANDOFF, suffix, loc: 40, origins }]);
  });

  test('texts for people are cut by the sender instead of costing the message', () => {
    const message = 'x'.repeat(100_000);
    const reject: Message = {
      kind: 'reject',
      rid: 'r',
      term: 0,
      hop: 0,
      model: 1,
      replica: 'a',
      code: 'overloaded',
      message,
      retryable: true,
    };
    const { messages, dropped } = decodeFrame(encodeFrame([reject]));
    expect(dropped).toBe(0);
    expect(messages[0]).toMatchObject({
      kind: 'reject',
      message: expect.stringMatching(/^x{1000,3000}…$/) as string,
    });
  });
});

describe('versions', () => {
  test('unknown trailing elements are ignored', () => {
    const newer = [...HANDOFF_TUPLE, null, null, null, null, null, { new: [1, { deep: true }] }, 'more'];
    expect(decodeFrame(frame(newer))).toStrictEqual({ messages: [HANDOFF], dropped: 0 });
  });

  test('a frame of another version is dropped whole and counted', () => {
    const bytes = raw.pack([PROTOCOL_VERSION + 1, [HANDOFF_TUPLE, HANDOFF_TUPLE]]);
    const detail = `version ${PROTOCOL_VERSION + 1}`;
    expect(decodeFrame(bytes)).toStrictEqual({ messages: [], dropped: 2, reason: 'version', detail });
  });

  test('an unknown kind is dropped, its neighbours are kept', () => {
    const result = decodeFrame(frame([9, 'r', 0], [200, 'r', 0], [9, 's', 0]));
    expect(result.messages.map((message) => 'rid' in message && message.rid)).toEqual(['r', 's']);
    expect(result).toMatchObject({ dropped: 1, reason: 'unknown-kind' });
  });

  test('an error code of a newer version reads as internal', () => {
    const result = decodeFrame(frame([3, 'r', 0, 0, 1, 'a', 'code_of_the_future', 'text', true]));
    expect(result.messages[0]).toMatchObject({ kind: 'reject', code: 'internal' });
  });

  test('every kind has its own number', () => {
    expect(new Set(Object.values(KIND_NUMBERS)).size).toBe(Object.keys(KIND_NUMBERS).length);
  });
});

/** Wrong values for the elements of the handoff tuple, by index. */
const WRONG: readonly (readonly [index: number, field: string, values: readonly unknown[]])[] = [
  [1, 'rid', [undefined, null, 7, '', 'a b', 'a.b', 'é', 'x'.repeat(65), ['a']]],
  [2, 'term', [null, -1, 0.5, NaN, '0', 2 ** 32, true]],
  [3, 'hop', [null, -1, 1.5, Infinity]],
  [4, 'from', [null, 0, 256, -1, 1.5]],
  [5, 'fromReplica', [null, '', 'a b', 'x'.repeat(129), 'ü', 5]],
  [6, 'to', [0, 256]],
  [
    7,
    'suffix',
    [null, [-1], [1.5], [2 ** 31], ['1'], [[1]], Buffer.from([1, 2, 3]), Buffer.from([0, 0, 0, 0x80]), 'abc'],
  ],
  [8, 'loc', [null, 0, -1, 0.5]],
  [9, 'home', [null, 5, [], [1], [0, 'a'], [1, '']]],
  [10, 'finished', ['unknown', 3, '']],
  [
    11,
    'init',
    [
      5,
      [],
      [1, [0, 0, -1, 0, 1], [1, []], 'r'],
      [1, [0, 1, -1, 0, 1.5], [1, []], 'r'],
      [1, [0, 1, -1, 0, 1], [0, []], 'r'],
    ],
  ],
  [12, 'locs', [5, [5], [[0, 1]], [[1, -1]], [[1, 1, '']], Array.from({ length: 256 }, () => [1, 1])]],
  [
    13,
    'origins',
    [
      5,
      [],
      [[1], [2]],
      [Buffer.from([1, 2]), Buffer.alloc(4)],
      [Buffer.from([1, 2]), Buffer.alloc(8)],
      [Buffer.from([1]), Buffer.alloc(3)],
    ],
  ],
  [14, 'algo', [5, ['a'], [1, 1], ['__proto__', 1], ['constructor', { a: 1 }], ['a', [['x']]], ['a', null]]],
];

describe('field checks', () => {
  const cases = WRONG.flatMap(([index, field, values]) => values.map((value) => ({ index, field, value })));
  test.each(cases)('$field = $value is refused and named', ({ index, field, value }) => {
    const tuple: unknown[] = [...HANDOFF_TUPLE, null, null, null, null, null].slice(0, 15);
    tuple[index] = value ?? null;
    const result = decodeFrame(frame([9, 'before', 0], tuple, [9, 'after', 0]));
    expect(result.messages.map((message) => 'rid' in message && message.rid)).toEqual(['before', 'after']);
    expect(result).toMatchObject({ dropped: 1, reason: 'invalid-field' });
    expect(result.detail).toMatch(new RegExp(`^peer-req\\.${field}`));
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])('a handoff cut after %i elements is refused', (length) => {
    const result = decodeFrame(frame(HANDOFF_TUPLE.slice(0, length)));
    expect(result).toMatchObject({ messages: [], dropped: 1 });
  });

  test('algorithm fields may bear the names of object members', () => {
    const algo = { constructor: 1, toString: 'x', hasOwnProperty: true };
    const message = { ...HANDOFF, algo } as unknown as PeerReq;
    expect(decodeFrame(encodeFrame([message])).messages).toStrictEqual([message]);
  });
});
