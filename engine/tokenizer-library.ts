import * as library from '@huggingface/tokenizers';
import { TokenrailError } from '../core/errors.ts';
import type { JsonObject } from './json-file.ts';

/** The part of the library's tokenizer that is used here. Its own declarations do not resolve under NodeNext. */
export interface LibraryTokenizer {
  /** A token of the post-processor that the vocabulary lacks comes out as undefined. */
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  token_to_id(token: string): number | undefined;
}

type Constructor = new (tokenizer: JsonObject, config: JsonObject) => LibraryTokenizer;

/** @throws TokenrailError `checkpoint_invalid` naming the file */
export function makeLibraryTokenizer(tokenizerJson: JsonObject, path: string): LibraryTokenizer {
  const { Tokenizer } = library as unknown as { Tokenizer: Constructor };
  try {
    return new Tokenizer(tokenizerJson, {});
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new TokenrailError('checkpoint_invalid', `${path}: ${why}`, { cause });
  }
}
