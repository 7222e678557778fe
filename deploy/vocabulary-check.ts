import { TokenrailError } from '../core/errors.ts';
import { loadTokenizer } from '../engine/tokenizer.ts';
import type { Tokenizer } from '../engine/tokenizer.ts';
import { compareVocabularies, describeComparison } from '../engine/vocabulary.ts';
import { readCheckpointFacts } from './checkpoint-facts.ts';
import type { ResolvedModel } from './config/models.ts';

/** What the models of a deployment share. */
export interface SharedVocabulary {
  /** Ids from here on are padding for at least one model: never sampled. */
  maskIdsFrom: number;
}

/**
 * Models that write one answer together must read the same ids the same way. Padding at the end may differ.
 * @throws TokenrailError `config_invalid` naming the first difference, `checkpoint_invalid` naming a file
 */
export function checkVocabularies(models: readonly ResolvedModel[]): SharedVocabulary {
  const loaded = models.map((model) => ({ model, tokenizer: loadTokenizer(model.path) }));
  const [first, ...others] = loaded;
  if (first === undefined) return { maskIdsFrom: 0 };
  const sizes = loaded.flatMap(({ model, tokenizer }) => [
    tokenizer.size,
    readCheckpointFacts(model.path).vocabSize,
  ]);
  for (const other of others) sizes.push(sharedSize(first, other));
  return { maskIdsFrom: Math.min(...sizes) };
}

interface Loaded {
  model: ResolvedModel;
  tokenizer: Tokenizer;
}

function sharedSize(a: Loaded, b: Loaded): number {
  const comparison = compareVocabularies(a.tokenizer, b.tokenizer);
  if (comparison.compatible) return comparison.sharedSize;
  const [nameA, nameB] = [a, b].map(({ model }) => `"${model.name}" (${model.path})`);
  const text = describeComparison(nameA ?? '', nameB ?? '', comparison);
  throw new TokenrailError('config_invalid', `models: ${text}`, { param: 'models' });
}
