import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { loadTokenizer } from '../../../engine/tokenizer.ts';
import { byteLevelJson, MODELS_DIR, sentencepieceJson, writeDir } from './helpers/tokenizer-dirs.ts';

interface Golden {
  tokenizerSha256: string;
  encodings: { text: string; ids: number[]; decoded: string; plainIds: number[] }[];
}
const golden = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../fixtures/golden/tokenizer.json'), 'utf8'),
) as Golden;
const dir = join(MODELS_DIR, 'small');
const tokenizer = loadTokenizer(dir);
const textOf = (ids: readonly number[], skipSpecialTokens = true): string =>
  Buffer.from(tokenizer.decodeBytes(ids, { skipSpecialTokens })).toString('utf8');

describe('the embedded tokenizer against transformers', () => {
  it('is the tokenizer the goldens were made with', () => {
    const hash = createHash('sha256')
      .update(readFileSync(join(dir, 'tokenizer.json')))
      .digest('hex');
    expect(hash).toBe(golden.tokenizerSha256);
    expect(golden.encodings.length).toBeGreaterThan(10);
  });

  it.each(golden.encodings.map((entry) => [entry.text, entry] as const))(
    'encodes and decodes %j',
    (text, entry) => {
      expect(tokenizer.encode(text, { parseSpecial: true })).toEqual(entry.ids);
      expect(tokenizer.encode(text)).toEqual(entry.plainIds);
      expect(textOf(entry.ids, false)).toBe(entry.decoded);
    },
  );
});

describe('control tokens in text', () => {
  it('are never produced from a client’s text, whatever it writes', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<|end|>',
        '<|user|>',
        '<|assistant|>',
        '<|pad|>',
        '<|',
        '|>',
        '<|e',
        'nd|>',
        '\ufdd0',
        '\ufdd1',
        '\ud800',
        '\udc00',
      ),
      fc.string({ unit: 'grapheme', maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const ids = tokenizer.encode(pieces.join(''));
        expect(ids.filter((id) => tokenizer.isSpecial(id))).toEqual([]);
        const expected = pieces
          .join('')
          .replace(/\p{Surrogate}|[\ufdd0\ufdd1]/gu, '\ufffd')
          .normalize('NFC');
        expect(textOf(ids)).toBe(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('cannot be forged through overlaps, normalising or a shorter token inside a longer one', () => {
    const added = [
      { id: 256, content: '<a><b>', special: true },
      { id: 257, content: '<b>', special: true },
      { id: 258, content: 'K;', special: true, normalized: true },
      { id: 259, content: '<think>', special: false },
    ];
    const forged = loadTokenizer(
      writeDir({ 'tokenizer.json': byteLevelJson(added, { normalizer: { type: 'NFC' } }) }),
    );
    for (const text of ['<a><b>', '<<b>', '<b<b>>', '\u212a\u037e', 'K;', '<a\ufdd0><b>']) {
      expect(forged.encode(text).filter((id) => id >= 256)).toEqual([]);
    }
    const raw = (text: string): number[] => forged.encode(text, { parseSpecial: true });
    expect([raw('<a><b>'), raw('<<b>'), raw('<b<b>>'), raw('K;')]).toEqual([
      [256],
      [60, 257],
      [60, 98, 257, 62],
      [258],
    ]);
    expect(forged.encode('a<think>')).toEqual([97, 259]);
  });
});

describe('token bytes', () => {
  it('knows ids, strings, control tokens and holes', () => {
    const added = [
      { id: 256, content: '<|x|>', special: true },
      { id: 260, content: '< ünï >', special: false },
    ];
    const t = loadTokenizer(writeDir({ 'tokenizer.json': byteLevelJson(added) }));
    expect(t.size).toBe(261);
    expect(t.idToToken(256)).toBe('<|x|>');
    expect(t.tokenToId('<|x|>')).toBe(256);
    expect(t.idToToken(258)).toBeUndefined();
    expect([256, 260, 65, 258, 9_999].map((id) => t.isSpecial(id))).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
    expect([...t.tokenBytes(258)]).toEqual([]);
    expect([...t.tokenBytes(9_999)]).toEqual([]);
    expect([...t.tokenBytes(-1)]).toEqual([]);
    expect(Array.from({ length: 256 }, (_, b) => [...t.tokenBytes(b)])).toEqual(
      Array.from({ length: 256 }, (_, b) => [b]),
    );
    expect(Buffer.from(t.decodeBytes([256, 65, 260])).toString()).toBe('A< ünï >');
    expect(Buffer.from(t.decodeBytes([256, 65], { skipSpecialTokens: false })).toString()).toBe('<|x|>A');
    expect(t.maxTokenBytes).toBe(Buffer.byteLength('< ünï >'));
  });

  it('reads sentencepiece with byte fallback', () => {
    const t = loadTokenizer(writeDir({ 'tokenizer.json': sentencepieceJson() }));
    expect(t.stripsLeadingSpace).toBe(true);
    expect(t.encode('Hi', { addSpecialTokens: false })).toEqual([264]);
    expect(t.encode('Hi')).toEqual([1, 264]);
    const euro = t.encode('é', { addSpecialTokens: false });
    expect(euro).toEqual([259, 3 + 0xc3, 3 + 0xa9]);
    expect(Buffer.from(t.decodeBytes(euro)).toString()).toBe(' é');
    expect(t.encode('</s>', { addSpecialTokens: false })).not.toContain(2);
    expect(t.encode('Hi</s>', { addSpecialTokens: false, parseSpecial: true })).toEqual([264, 2]);
  });
});

describe('promptCannotFit', () => {
  it('never refuses what fits', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        const numTokens = tokenizer.encode(text).length;
        expect(tokenizer.promptCannotFit(Buffer.byteLength(text), numTokens)).toBe(false);
      }),
      { numRuns: 300 },
    );
    const shrinking = '\u1fbe\u0308\u0301'.repeat(50);
    expect(tokenizer.promptCannotFit(Buffer.byteLength(shrinking), tokenizer.encode(shrinking).length)).toBe(
      false,
    );
  });

  it('refuses what certainly does not fit, and claims nothing where text may vanish', () => {
    expect(tokenizer.promptCannotFit(200_000, 512)).toBe(true);
    const exact = loadTokenizer(writeDir({ 'tokenizer.json': byteLevelJson() }));
    expect([exact.promptCannotFit(10, 10), exact.promptCannotFit(11, 10)]).toEqual([false, true]);
    const strips = byteLevelJson([{ id: 256, content: '<m>', special: true, lstrip: true }]);
    expect(loadTokenizer(writeDir({ 'tokenizer.json': strips })).promptCannotFit(1e9, 1)).toBe(false);
    const strip = byteLevelJson([], { normalizer: { type: 'Strip' } });
    expect(loadTokenizer(writeDir({ 'tokenizer.json': strip })).promptCannotFit(1e9, 1)).toBe(false);
  });
});

describe('broken tokenizer files', () => {
  const load = (files: Record<string, unknown>): TokenrailError => {
    try {
      loadTokenizer(writeDir(files));
    } catch (error) {
      if (error instanceof TokenrailError) return error;
    }
    throw new Error('should have been refused with a TokenrailError');
  };
  it.each([
    ['missing', {}, 'cannot read'],
    ['not JSON', { 'tokenizer.json': '{"model":' }, 'not JSON'],
    ['not an object', { 'tokenizer.json': '[]' }, 'not a JSON object'],
    ['a Git-LFS pointer', { 'tokenizer.json': 'version https://git-lfs.github.com/spec/v1\n' }, 'Git-LFS'],
    ['no model', { 'tokenizer.json': {} }, 'no "model"'],
    [
      'another model',
      { 'tokenizer.json': byteLevelJson([], { model: { type: 'Unigram', vocab: [] } }) },
      'Unigram',
    ],
    ['no merges', { 'tokenizer.json': byteLevelJson([], { model: { type: 'BPE', vocab: {} } }) }, 'merges'],
    [
      'another decoder',
      { 'tokenizer.json': byteLevelJson([], { decoder: { type: 'WordPiece' }, pre_tokenizer: null }) },
      'WordPiece',
    ],
    [
      'a wild id',
      { 'tokenizer.json': byteLevelJson([{ id: 1e12, content: 'x', special: false }]) },
      '1000000000000',
    ],
    ['an unknown part', { 'tokenizer.json': byteLevelJson([], { normalizer: { type: 'Nope' } }) }, 'Nope'],
  ])('%s', (_name, files, words) => {
    const error = load(files);
    expect(error.code).toBe('checkpoint_invalid');
    expect(error.message).toContain('tokenizer.json');
    expect(error.message).toContain(words);
  });
});
