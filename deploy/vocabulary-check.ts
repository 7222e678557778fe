import { TokenrailError } from '../core/errors.ts';
import { loadTokenizer } from '../engine/tokenizer.ts';
import type { Tokenizer } from '../engine/tokenizer.ts';
import { compareVocabularies } from '../engine/vocabulary.ts';
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
  const tokenizers = models.map((model) => ({ model, tokenizer: loadTokenizer(model.path) }));
  const [first, ...others] = tokenizers;
  if (first === undefined) return { maskIdsFrom: 0 };
  for (const other of others) requireCompatible(first, other);
  const sizes = tokenizers.flatMap(({ model, tokenizer }) => [
    tokenizer.size,
    readCheckpointFacts(model.path).vocabSize,
  ]);
  return { maskIdsFrom: Math.min(...sizes) };
}

interface Loaded {
  model: ResolvedModel;
  tokenizer: Tokenizer;
}

function requireCompatible(a: Loaded, b: Loaded): void {
  const { compatible, firstDifference } = compareVocabularies(a.tokenizer, b.tokenizer);
  if (compatible) return;
  const names = `"${a.model.name}" (${a.model.path}) and "${b.model.name}" (${b.model.path})`;
  throw new TokenrailError(
    'config_invalid',
    `models: the vocabularies of ${names} differ: ${firstDifference ?? 'unknown'}`,
    {
      param: 'models',
    },
  );
}
