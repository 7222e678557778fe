import fc from 'fast-check';
import { Packr } from 'msgpackr';
import { describe, expect, test } from 'vitest';
import { decodeFrame, encodeFrame } from '../../../transport/codec.ts';
import { PROTOCOL_VERSION } from '../../../transport/messages.ts';
import { MAX_FRAME_BYTES, MAX_MESSAGES_PER_FRAME } from '../../../transport/wire/limits.ts';
import { isPlainMsgpack } from '../../../transport/wire/msgpack-guard.ts';
import { messageArbitrary } from '../../helpers/message-arbitraries.ts';

const raw = new Packr({ useRecords: false });

/** Whatever decodes must itself be a valid set of messages: encoding it again and decoding changes nothing. */
function expectOnlyValid(bytes: Uint8Array): void {
  const result = decodeFrame(bytes);
  if (result.dropped > 0) expect(result.reason).toBeDefined();
  const again = decodeFrame(encodeFrame(result.messages));
  expect(again).toStrictEqual({ messages: result.messages, dropped: 0 });
}

const framesArbitrary = fc
  .array(messageArbitrary, { minLength: 1, maxLength: 4 })
  .map((m) => Uint8Array.from(encodeFrame(m)));

describe('mutated frames', () => {
  test('flipped bytes never throw and never give an invalid message', () => {
    const flips = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(framesArbitrary, flips, (bytes, changes) => {
        for (const [position, mask] of changes) {
          const at = position % bytes.length;
          bytes[at] = (bytes[at] ?? 0) ^ mask;
        }
        expectOnlyValid(bytes);
      }),
      { numRuns: 1500 },
    );
  });

  test('truncated, extended and spliced frames never throw', () => {
    fc.assert(
      fc.property(framesArbitrary, framesArbitrary, fc.nat(), fc.nat(), (a, b, i, j) => {
        const cut = a.subarray(0, i % a.length);
        expect(decodeFrame(cut)).toMatchObject({ messages: [], dropped: 1, reason: 'malformed' });
        expect(decodeFrame(Buffer.concat([a, Buffer.from([0xc0])]))).toMatchObject({
          messages: [],
          dropped: 1,
        });
        expectOnlyValid(Buffer.concat([cut, b.subarray(j % b.length)]));
      }),
      { numRuns: 400 },
    );
  });

  test('random bytes never throw', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), expectOnlyValid), { numRuns: 1500 });
  });

  test('any msgpack value in place of a frame never throws', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 5, withBigInt: false }), (value) => {
        let bytes: Uint8Array;
        try {
          bytes = Uint8Array.from(raw.pack([PROTOCOL_VERSION, [value, [4, value], value]]));
        } catch {
          return;
        }
        expectOnlyValid(bytes);
      }),
      { numRuns: 500 },
    );
  });
});

const head = (...bytes: number[]): Buffer => Buffer.from(bytes);
const malformed = { messages: [], dropped: 1, reason: 'malformed' };

describe('hostile msgpack', () => {
  const cases: readonly (readonly [name: string, bytes: Uint8Array])[] = [
    ['nothing', new Uint8Array(0)],
    ['nil', head(0xc0)],
    ['the reserved byte', head(0xc1)],
    ['an array of 2^32 - 1 elements', head(0xdd, 0xff, 0xff, 0xff, 0xff)],
    ['a map of 2^32 - 1 elements', head(0xdf, 0xff, 0xff, 0xff, 0xff)],
    ['a string of 4 GiB', head(0xdb, 0xff, 0xff, 0xff, 0xff, 0x61)],
    ['bytes of 4 GiB', head(0xc6, 0xff, 0xff, 0xff, 0xff, 0x61)],
    [
      '30 million elements, nested',
      Buffer.concat(Array.from({ length: 8 }, () => head(0xdd, 0x01, 0xc9, 0xc3, 0x80))),
    ],
    ['a record definition', head(0x92, 0x01, 0x91, 0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 0x01)],
    ['a date', head(0x92, 0x01, 0x91, 0xd6, 0xff, 0, 0, 0, 1)],
    ['a regular expression', new Packr({ useRecords: false, moreTypes: true }).pack([1, [/(a+)+$/]])],
    ['a set', new Packr({ useRecords: false, moreTypes: true }).pack([1, [new Set([1])]])],
    ['an error', new Packr({ useRecords: false, moreTypes: true }).pack([1, [new Error('x')]])],
    ['a typed array', new Packr({ useRecords: false, moreTypes: true }).pack([1, [new Float64Array(2)]])],
    ['a cyclic reference', head(0x92, 0x01, 0xd6, 0x69, 0, 0, 0, 1, 0x91, 0xd6, 0x70, 0, 0, 0, 1)],
    ['undefined', head(0x92, 0x01, 0xd4, 0, 0)],
    ['a version that is no integer', raw.pack([1.5, []])],
    ['a version as text', raw.pack(['1', []])],
    ['no list of messages', raw.pack([1, 'x'])],
    ['a map as a frame', raw.pack({ 0: 1, 1: [] })],
  ];
  test.each(cases)('%s is refused', (_name, bytes) => {
    expect(decodeFrame(bytes)).toMatchObject(malformed);
  });

  test.each([100, 5000, 1_000_000])('%i levels of nesting are refused', (depth) => {
    const bytes = Buffer.concat([head(0x92, 0x01), Buffer.alloc(depth, 0x91), head(0xc0)]);
    expect(decodeFrame(bytes)).toMatchObject(malformed);
  });

  test('a record definition does not change how later frames are read', () => {
    decodeFrame(head(0x92, 0x01, 0x91, 0xd4, 0x72, 0x40, 0x92, 0xa1, 0x61, 0xa1, 0x62, 0x01, 0x02));
    const message = { kind: 'release', rid: 'r', term: 64 } as const;
    expect(decodeFrame(encodeFrame([message]))).toStrictEqual({ messages: [message], dropped: 0 });
  });

  test('a map with __proto__ pollutes nothing', () => {
    const map = head(0x81, 0xa9, ...Buffer.from('__proto__'), 0x81, 0xa1, 0x78, 0x01);
    const tuple = Buffer.concat([head(0x94, 0x09, 0xa1, 0x72, 0x00), map]);
    const result = decodeFrame(Buffer.concat([head(0x92, 0x01, 0x91), tuple]));
    expect(result).toStrictEqual({ messages: [{ kind: 'release', rid: 'r', term: 0 }], dropped: 0 });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('a frame over the size limit is refused before it is decoded', () => {
    expect(decodeFrame(new Uint8Array(MAX_FRAME_BYTES + 1))).toMatchObject({
      dropped: 1,
      reason: 'too-large',
    });
  });

  test('too many messages in a frame are refused', () => {
    const tuples = Array.from({ length: MAX_MESSAGES_PER_FRAME + 1 }, () => [13]);
    expect(decodeFrame(raw.pack([1, tuples]))).toMatchObject({ messages: [], reason: 'malformed' });
    expect(decodeFrame(raw.pack([1, tuples.slice(1)])).messages.length).toBe(MAX_MESSAGES_PER_FRAME);
  });

  test('64-bit integers of other encoders read as numbers', () => {
    const seed = head(0xcf, 0, 0, 0x10, 0, 0, 0, 0, 1);
    const init = Buffer.concat([
      head(0x94, 0x01, 0x95, 0x00, 0x01, 0xff, 0x00),
      seed,
      head(0x92, 0x05, 0x90),
      raw.pack('r'),
    ]);
    const tuple = Buffer.concat([head(0x96, 0x01, 0xa1, 0x72, 0x00, 0x91, 0x07), init, raw.pack('gw')]);
    const result = decodeFrame(Buffer.concat([head(0x92, 0x01, 0x91), tuple]));
    expect(result.messages[0]).toMatchObject({ init: { sampling: { seed: 2 ** 44 + 1, topK: -1 } } });
  });
});

describe('the look over the raw bytes', () => {
  const extensions = [0xc7, 0xc8, 0xc9, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8];
  test.each([0xc1, ...extensions])('first byte %i is refused wherever it stands', (first) => {
    expect(isPlainMsgpack(head(first))).toBe(false);
    expect(isPlainMsgpack(head(0x94, first, 0x00, 0x00, 0x00))).toBe(false);
  });

  test('whatever an encoder without extensions writes is plain', () => {
    const value = fc.letrec((tie) => ({
      leaf: fc.oneof(
        fc.double(),
        fc.integer(),
        fc.string(),
        fc.boolean(),
        fc.constant(null),
        fc.uint8Array(),
      ),
      node: fc.oneof(
        { maxDepth: 6 },
        tie('leaf'),
        fc.array(tie('node')),
        fc.dictionary(fc.string(), tie('node')),
      ),
    })).node;
    fc.assert(
      fc.property(value, (plain) => {
        expect(isPlainMsgpack(raw.pack(plain))).toBe(true);
      }),
      { numRuns: 400 },
    );
  });
});
