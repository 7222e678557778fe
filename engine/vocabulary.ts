import type { Tokenizer } from './tokenizer.ts';

/** The part of a tokenizer that is compared. */
export type Vocabulary = Pick<Tokenizer, 'size' | 'idToToken' | 'tokenBytes' | 'isSpecial'>;

export interface VocabularyComparison {
  /** Whether every id that both know means the same bytes, and what only one knows is padding. */
  compatible: boolean;
  /** Ids below this are the same in both: only these may be written. 0 where not compatible. */
  sharedSize: number;
  /** Set where ids from `sharedSize` on are padding in one or both: the larger number of ids. */
  paddedTo?: number;
  /** Where not compatible: id and meaning of the first difference. */
  firstDifference?: string;
}

/** Names that model makers give to ids which stand for nothing yet. */
const FILLER =
  /^[<[]?\|?[\s_-]*(?:extra|reserved|unused|dummy|pad|padding|placeholder|fill)\w*\W*\w*\|?[>\]]?$/i;

/**
 * Compares two vocabularies id by id: the bytes a token stands for, and whether it is a control token. Names of
 * models, merges and pre-tokenizers do not matter, since only ids travel between models. Padding at the end may
 * differ: ids without a token, or with a filler such as `<|extra_12|>` or `<|reserved_special_token_7|>`.
 */
export function compareVocabularies(a: Vocabulary, b: Vocabulary): VocabularyComparison {
  const paddingFrom = Math.min(sizeWithoutPadding(a), sizeWithoutPadding(b));
  const largest = Math.max(a.size, b.size);
  let sharedSize = largest;
  for (let id = 0; id < largest; id += 1) {
    const firstDifference = differenceAt(id, a, b);
    if (firstDifference === undefined) continue;
    const isTail = id >= paddingFrom && isPadding(a, id) && isPadding(b, id);
    if (!isTail) return { compatible: false, sharedSize: 0, firstDifference };
    sharedSize = Math.min(sharedSize, id);
  }
  sharedSize = Math.min(sharedSize, a.size, b.size);
  return { compatible: true, sharedSize, ...(sharedSize < largest ? { paddedTo: largest } : {}) };
}

/** One sentence about a comparison, for logs and errors. */
export function describeComparison(nameA: string, nameB: string, comparison: VocabularyComparison): string {
  const pair = `${nameA} and ${nameB}`;
  const { compatible, paddedTo, sharedSize, firstDifference } = comparison;
  if (!compatible) return `The vocabularies of ${pair} differ: ${firstDifference ?? 'no common id'}.`;
  if (paddedTo === undefined) return `${pair} share a vocabulary of ${sharedSize} ids.`;
  return `${pair} share ${sharedSize} ids; those from there to ${paddedTo - 1} are padding and are never written.`;
}

function isPadding(vocabulary: Vocabulary, id: number): boolean {
  const token = vocabulary.idToToken(id);
  return token === undefined || FILLER.test(token);
}

function sizeWithoutPadding(vocabulary: Vocabulary): number {
  let { size } = vocabulary;
  while (size > 0 && isPadding(vocabulary, size - 1)) size -= 1;
  return size;
}

function differenceAt(id: number, a: Vocabulary, b: Vocabulary): string | undefined {
  const [tokenA, tokenB] = [a.idToToken(id), b.idToToken(id)];
  const isSame =
    (tokenA === undefined) === (tokenB === undefined) &&
    a.isSpecial(id) === b.isSpecial(id) &&
    Buffer.compare(a.tokenBytes(id), b.tokenBytes(id)) === 0;
  if (isSame) return undefined;
  return `id ${id} is ${show(tokenA, a.isSpecial(id))} in one, ${show(tokenB, b.isSpecial(id))} in the other`;
}

function show(token: string | undefined, isSpecial: boolean): string {
  if (token === undefined) return 'no token';
  return isSpecial ? `the control token ${JSON.stringify(token)}` : JSON.stringify(token);
}
