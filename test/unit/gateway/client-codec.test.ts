import fc from 'fast-check';
import { Packr, Unpackr } from 'msgpackr';
import { describe, expect, it } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { clientFormatOf, decodeClientRequest, encodeClientObject } from '../../../transport/client-codec.ts';

const packr = new Packr({ useRecords: false });

describe('client codec', () => {
  it('reads both formats alike, and writes what it reads', () => {
    const fields = fc.dictionary(
      fc.stringMatching(/^[a-z]{1,8}$/),
      fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.nat())),
    );
    fc.assert(
      fc.property(fields, (request) => {
        const plain = { ...request };
        for (const format of ['json', 'msgpack'] as const) {
          const bytes = encodeClientObject(plain, format);
          expect(clientFormatOf(bytes)).toBe(format);
          expect(decodeClientRequest(bytes, 1e6)).toEqual(plain);
        }
      }),
    );
  });

  it('refuses, by our errors only, whatever is no object', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          expect(typeof decodeClientRequest(bytes, 1_000)).toBe('object');
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(TokenrailError);
          expect((thrown as TokenrailError).code).toBe('invalid_request');
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('refuses by size before reading', () => {
    expect(() => decodeClientRequest(new Uint8Array(11), 10)).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    );
  });

  it('does not let a prototype in', () => {
    const read = decodeClientRequest(Buffer.from('{"__proto__":{"admin":true}}'), 100);
    expect((read as { admin?: boolean }).admin).toBeUndefined();
    const packed = decodeClientRequest(packr.pack({ a: { constructor: 1 } }), 100);
    expect(packed).toEqual({ a: { constructor: 1 } });
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(
      new Unpackr({ useRecords: false }).unpack(encodeClientObject({ a: Number.NaN }, 'msgpack')),
    ).toEqual({ a: Number.NaN });
  });
});
