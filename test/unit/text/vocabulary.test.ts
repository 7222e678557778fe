import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadTokenizer } from '../../../engine/tokenizer.ts';
import {
  compareVocabularies,
  describeComparison,
  type VocabularyComparison,
} from '../../../engine/vocabulary.ts';
import {
  byteLevelJson,
  MODELS_DIR,
  sentencepieceJson,
  writeDir,
  type AddedToken,
} from './helpers/tokenizer-dirs.ts';

const end = { id: 256, content: '<|end|>', special: true };
const user = { id: 257, content: '<|user|>', special: true };
const load = (added: readonly AddedToken[], over: Record<string, unknown> = {}) =>
  loadTokenizer(writeDir({ 'tokenizer.json': byteLevelJson(added, over) }));
const base = load([end, user]);

/** Both ways round: the verdict must not depend on the order. */
function compare(other: ReturnType<typeof load>): VocabularyComparison {
  const there = compareVocabularies(base, other);
  const back = compareVocabularies(other, base);
  expect({ ...back, firstDifference: undefined }).toEqual({ ...there, firstDifference: undefined });
  return there;
}

describe('compareVocabularies', () => {
  it('accepts equal vocabularies', () => {
    expect(compare(load([end, user]))).toEqual({ compatible: true, sharedSize: 258 });
    const [small, large] = ['small', 'large'].map((name) => loadTokenizer(join(MODELS_DIR, name)));
    expect(small !== undefined && large !== undefined && compareVocabularies(small, large)).toEqual({
      compatible: true,
      sharedSize: 768,
    });
  });

  it('ignores what only encoding needs', () => {
    const other = load([end, user], { normalizer: { type: 'NFC' } });
    expect(compare(other).compatible).toBe(true);
  });

  it.each(['<|extra_0|>', '<|reserved_special_token_3|>', '[unused7]', '<pad_12>', '<|dummy|>'])(
    'accepts the filler %s at the end',
    (filler) => {
      const fillers = [258, 259, 300].map((id) => ({
        id,
        content: `${filler}${' '.repeat(id - 258)}`.trim(),
        special: id !== 259,
      }));
      const comparison = compare(load([end, user, ...fillers]));
      expect(comparison).toEqual({ compatible: true, sharedSize: 258, paddedTo: 301 });
      expect(describeComparison('A', 'B', comparison)).toBe(
        'A and B share 258 ids; those from there to 300 are padding and are never written.',
      );
    },
  );

  it('refuses two ids swapped, naming the first', () => {
    const comparison = compare(
      load([
        { ...end, id: 257 },
        { ...user, id: 256 },
      ]),
    );
    expect(comparison).toMatchObject({ compatible: false, sharedSize: 0 });
    expect(comparison.firstDifference).toBe(
      'id 256 is the control token "<|end|>" in one, the control token "<|user|>" in the other',
    );
    expect(describeComparison('A', 'B', comparison)).toContain('A and B differ: id 256');
  });

  it('refuses a missing control token', () => {
    expect(compare(load([end]))).toMatchObject({ compatible: false });
    expect(compare(load([end])).firstDifference).toBe(
      'id 257 is the control token "<|user|>" in one, no token in the other',
    );
    expect(compare(load([user])).firstDifference).toContain('id 256');
  });

  it('refuses a further token that is no padding', () => {
    expect(compare(load([end, user, { id: 258, content: '<think>', special: false }]))).toMatchObject({
      compatible: false,
    });
    expect(
      compare(load([end, user, { id: 300, content: 'word', special: false }])).firstDifference,
    ).toContain('id 300');
  });

  it('refuses a control token that is plain text elsewhere', () => {
    expect(compare(load([end, { ...user, special: false }])).firstDifference).toBe(
      'id 257 is the control token "<|user|>" in one, "<|user|>" in the other',
    );
  });

  it('refuses a filler inside the vocabulary where the other has a token', () => {
    const late = { id: 258, content: '<|assistant|>', special: true };
    expect(
      compareVocabularies(load([end, user, late]), load([end, { ...user, content: '<|extra_0|>' }, late])),
    ).toMatchObject({
      compatible: false,
    });
  });

  it('shares no filler that has another name elsewhere', () => {
    const filler = (content: string): AddedToken => ({ id: 258, content, special: true });
    const [one, other] = [
      load([end, user, filler('<|extra_0|>')]),
      load([end, user, filler('<|reserved_9|>')]),
    ];
    expect(compareVocabularies(one, other)).toEqual({ compatible: true, sharedSize: 258, paddedTo: 259 });
  });

  it('refuses the same letters for other bytes', () => {
    const pieces = loadTokenizer(writeDir({ 'tokenizer.json': sentencepieceJson() }));
    expect(compareVocabularies(base, pieces).compatible).toBe(false);
  });
});
