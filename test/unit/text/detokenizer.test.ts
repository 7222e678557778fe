import { TextDecoder } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IncrementalDetokenizer, type DetokenizerOptions } from '../../../actors/gateway/text/detokenizer.ts';
import type { TokenBytes } from '../../../engine/tokenizer.ts';
import { byteTokens, cut, tokensOf } from './helpers/byte-tokens.ts';

function pieces(tokens: TokenBytes, ids: readonly number[], options?: DetokenizerOptions): string[] {
  const detokenizer = new IncrementalDetokenizer(tokens, options);
  return [...ids.map((id) => detokenizer.push(id)), detokenizer.flush()];
}

/** What a decoder makes of all bytes at once, without the beginning of a character that the end cut off. */
function wholeText(bytes: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return decoder.decode(bytes, { stream: true });
}

describe('IncrementalDetokenizer', () => {
  it('gives a character out with the byte that completes it', () => {
    const text = 'ď 北 🙂 👨‍👩‍👧 שלום';
    const out = pieces(byteTokens, [...Buffer.from(text)]);
    expect(out.join('')).toBe(text);
    expect(out.filter((piece) => piece !== '')).toEqual([...text]);
  });

  it('equals the whole text for any text and any cut', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.array(fc.nat(200), { maxLength: 60 }),
        (text, places) => {
          const { tokens, ids } = cut(Buffer.from(text), places);
          expect(pieces(tokens, ids).join('')).toBe(text);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('equals a decoder for any bytes and any cut, without the cut-off end', () => {
    const byte = fc.oneof(
      fc.nat(255),
      fc.constantFrom(0xe0, 0xed, 0xf0, 0xf4, 0xc2, 0x80, 0x9f, 0xa0, 0xbf, 0x8f, 0x90, 0xef, 0xbb),
    );
    fc.assert(
      fc.property(
        fc.array(byte, { maxLength: 24 }),
        fc.array(fc.nat(30), { maxLength: 24 }),
        (bytes, places) => {
          const { tokens, ids } = cut(Uint8Array.from(bytes), places);
          expect(pieces(tokens, ids).join('')).toBe(wholeText(Uint8Array.from(bytes)));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('drops a character that the end cut off, in every mode', () => {
    const smile = [...Buffer.from('a🙂')];
    for (let length = 1; length < smile.length; length += 1) {
      expect(pieces(byteTokens, smile.slice(0, length)).join('')).toBe('a');
      expect(pieces(tokensOf([smile.slice(0, length)]), [0]).join('')).toBe('a');
    }
  });

  it('keeps a byte order mark and a literal U+FFFD', () => {
    expect(pieces(byteTokens, [...Buffer.from('\ufeffx\ufffd')]).join('')).toBe('\ufeffx\ufffd');
  });

  it('skips control tokens, also between the halves of a character', () => {
    const tokens = tokensOf(['<|end|>', [0xc3], [0xa9], '<think>'], [0]);
    expect(pieces(tokens, [0, 1, 0, 2, 3])).toEqual(['', '', '', 'é', '<think>', '']);
    expect(pieces(tokens, [0, 1], { skipSpecialTokens: false })).toEqual(['<|end|>', '', '']);
    expect(pieces(tokens, [1, 3]).join('')).toBe('\ufffd<think>');
  });

  it('drops one leading space where the encoding added it', () => {
    const tokens = tokensOf([' Hi', ' there', '<s>', [], '  x'], [2], true);
    expect(pieces(tokens, [2, 3, 0, 1], { startsText: true }).join('')).toBe('Hi there');
    expect(pieces(tokens, [4], { startsText: true }).join('')).toBe(' x');
    expect(pieces(tokens, [0, 1]).join('')).toBe(' Hi there');
    expect(pieces(tokensOf([' Hi']), [0], { startsText: true }).join('')).toBe(' Hi');
  });

  it('gives nothing for ids that have no token', () => {
    expect(pieces(byteTokens, [300, -1, 65]).join('')).toBe('A');
  });
});
