import { join } from 'node:path';
import { TokenrailError } from '../core/errors.ts';
import { readJsonFile } from './json-file.ts';
import { makeLibraryTokenizer, type LibraryTokenizer } from './tokenizer-library.ts';
import { SpecialText } from './special-text.ts';
import { buildTokenBytes, byteFormOf, type ByteForm, type TokenBytesTable } from './token-bytes.ts';
import { forLibrary, readVocabulary, shrinkFactor, type VocabularyEntries } from './tokenizer-json.ts';

export interface EncodeOptions {
  /** Whether the checkpoint's post-processor adds its tokens (such as a BOS). Default true; false for a rendered chat. */
  addSpecialTokens?: boolean;
  /**
   * Whether control tokens written in the text become control tokens. Default false: a client's text cannot forge
   * them. True for a rendered chat, whose client parts {@link Tokenizer.disarm} has treated, and for the raw prompt of a completion.
   */
  parseSpecial?: boolean;
}

/** What turning ids into text needs to know. */
export interface TokenBytes {
  /** The bytes a token stands for; empty for an id without a token. Read-only. */
  tokenBytes(id: number): Uint8Array;
  isSpecial(id: number): boolean;
  /** Whether one space at the beginning of a text belongs to the encoding, not to the text (sentencepiece). */
  readonly stripsLeadingSpace: boolean;
}

/** A checkpoint's tokenizer: byte-pair encoding, byte-level or with byte fallback. */
export class Tokenizer implements TokenBytes {
  /** Number of ids, added tokens included: the largest id + 1. */
  readonly size: number;
  /** Bytes of the longest token. */
  readonly maxTokenBytes: number;
  readonly stripsLeadingSpace: boolean;
  readonly #library: LibraryTokenizer;
  readonly #entries: VocabularyEntries;
  readonly #table: TokenBytesTable;
  readonly #specialText: SpecialText;
  /** Bytes of text that one byte of tokens may stand for; undefined where tokens need not cover the text. */
  readonly #shrink: number | undefined;

  /** Use {@link loadTokenizer}. */
  constructor(
    library: LibraryTokenizer,
    entries: VocabularyEntries,
    form: ByteForm,
    shrink: number | undefined,
  ) {
    this.#library = library;
    this.#entries = entries;
    this.#table = buildTokenBytes(entries.tokens, form.kind, (id) => entries.added.has(id));
    this.#specialText = new SpecialText([...entries.special].map((id) => entries.tokens[id] ?? ''));
    this.#shrink = shrink;
    this.size = entries.tokens.length;
    this.maxTokenBytes = this.#table.maxTokenBytes;
    this.stripsLeadingSpace = form.stripsLeadingSpace;
  }

  /** The ids of a text. Synchronous, and slow for long texts: see `BackgroundEncoder`. */
  encode(text: string, options: EncodeOptions = {}): number[] {
    const { addSpecialTokens = true, parseSpecial = false } = options;
    const input = parseSpecial ? text : this.disarm(text);
    const { ids } = this.#library.encode(input, { add_special_tokens: addSpecialTokens });
    if (!ids.every((id) => id !== undefined)) {
      throw new TokenrailError(
        'checkpoint_invalid',
        'the tokenizer produced a token that is not in its vocabulary',
      );
    }
    return ids;
  }

  /** A client's text with its control tokens made harmless; to be put into a chat template. */
  disarm(text: string): string {
    return this.#specialText.disarm(text);
  }

  tokenBytes(id: number): Uint8Array {
    const { packed, offsets } = this.#table;
    return packed.subarray(offsets[id] ?? 0, offsets[id + 1] ?? offsets[id] ?? 0);
  }

  /** The bytes of a sequence. Control tokens leave none with `skipSpecialTokens` (the default). */
  decodeBytes(ids: readonly number[], options: { skipSpecialTokens?: boolean } = {}): Uint8Array {
    const { skipSpecialTokens = true } = options;
    const shown = skipSpecialTokens ? ids.filter((id) => !this.isSpecial(id)) : ids;
    return Buffer.concat(shown.map((id) => this.tokenBytes(id)));
  }

  /** The vocabulary's string for an id; undefined for an id without a token. */
  idToToken(id: number): string | undefined {
    return this.#entries.tokens[id];
  }

  /** The id of a vocabulary string. */
  tokenToId(token: string): number | undefined {
    return this.#library.token_to_id(token);
  }

  isSpecial(id: number): boolean {
    return this.#entries.special.has(id);
  }

  /**
   * Whether a text of so many UTF-8 bytes certainly needs more than `maxTokens` tokens. Exact for what it refuses:
   * every token covers at most `maxTokenBytes` bytes of normalised text, and normalising shrinks a text by a known factor at most.
   * Marks of {@link disarm} do not count.
   */
  promptCannotFit(byteLength: number, maxTokens: number): boolean {
    return this.#shrink !== undefined && byteLength > maxTokens * this.maxTokenBytes * this.#shrink;
  }
}

/**
 * Loads `tokenizer.json` of a checkpoint directory.
 * @throws TokenrailError `checkpoint_invalid` naming the file
 */
export function loadTokenizer(dir: string): Tokenizer {
  const path = join(dir, 'tokenizer.json');
  const json = readJsonFile(path);
  const entries = readVocabulary(json, path);
  return new Tokenizer(
    makeLibraryTokenizer(forLibrary(json), path),
    entries,
    byteFormOf(json, path),
    shrinkFactor(json),
  );
}
