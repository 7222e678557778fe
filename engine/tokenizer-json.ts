import { TokenrailError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from './json-file.ts';
import { BREAK_MARK } from './special-text.ts';

/** The tokens of a tokenizer.json, by id. */
export interface VocabularyEntries {
  /** Holes (ids without a token) are undefined. */
  tokens: readonly (string | undefined)[];
  /** Ids of added tokens, control tokens or not. */
  added: ReadonlySet<number>;
  /** Ids of control tokens. */
  special: ReadonlySet<number>;
}

/** Larger ids than this are refused: a single one would allocate a table of that size. */
const MAX_ID = 4_194_304;

/** @throws TokenrailError `checkpoint_invalid` naming the file */
export function readVocabulary(json: JsonObject, path: string): VocabularyEntries {
  const tokens: (string | undefined)[] = [];
  const put = (token: string, id: unknown): number => {
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > MAX_ID) {
      throw new TokenrailError(
        'checkpoint_invalid',
        `${path}: token ${JSON.stringify(token)} has the id ${String(id)}`,
      );
    }
    while (tokens.length <= id) tokens.push(undefined);
    tokens[id] = token;
    return id;
  };
  for (const [token, id] of Object.entries(bpeVocab(json, path))) put(token, id);
  const added = new Set<number>();
  const special = new Set<number>();
  for (const entry of addedTokens(json)) {
    if (typeof entry.content !== 'string')
      throw new TokenrailError('checkpoint_invalid', `${path}: an added token has no content`);
    const id = put(entry.content, entry.id);
    added.add(id);
    if (entry.special === true) special.add(id);
  }
  return { tokens, added, special };
}

function bpeVocab(json: JsonObject, path: string): JsonObject {
  const model = json.model;
  if (!isJsonObject(model)) throw new TokenrailError('checkpoint_invalid', `${path}: no "model"`);
  const type = model.type ?? 'BPE';
  if (type !== 'BPE')
    throw new TokenrailError(
      'checkpoint_invalid',
      `${path}: model type ${JSON.stringify(type)} is not supported; supported: BPE`,
    );
  if (!isJsonObject(model.vocab) || !Array.isArray(model.merges)) {
    throw new TokenrailError('checkpoint_invalid', `${path}: the model lacks "vocab" or "merges"`);
  }
  return model.vocab;
}

function addedTokens(json: JsonObject): JsonObject[] {
  return Array.isArray(json.added_tokens) ? json.added_tokens.filter(isJsonObject) : [];
}

/**
 * The tokenizer.json as the library gets it. The marks that keep a client's text from being a control token are
 * dropped in front of the pre-tokenizer: the library looks for control tokens in the text, and again compares whole
 * normalised sections with them. Control tokens count in the text as written, not as normalised.
 */
export function forLibrary(json: JsonObject): JsonObject {
  const dropMarks = { type: 'Replace', pattern: { String: BREAK_MARK }, content: '' };
  const pretokenizers = isJsonObject(json.pre_tokenizer) ? [dropMarks, json.pre_tokenizer] : [dropMarks];
  return {
    decoder: null,
    post_processor: null,
    normalizer: null,
    ...json,
    model: { type: 'BPE', ...(json.model as JsonObject) },
    pre_tokenizer: { type: 'Sequence', pretokenizers },
    added_tokens: addedTokens(json).map((entry) =>
      entry.special === true ? { ...entry, normalized: false } : entry,
    ),
  };
}

/**
 * By how much normalising may shrink a text's bytes, so that tokens still cover all of it. NFC: at most 3.5
 * (U+1FBE U+0308 U+0301, 7 bytes, becomes U+0390, 2 bytes); undefined where text may vanish altogether.
 */
export function shrinkFactor(json: JsonObject): number | undefined {
  const model = json.model as JsonObject;
  const isByteLevel = JSON.stringify([json.pre_tokenizer, json.decoder]).includes('"ByteLevel"');
  if (!isByteLevel && model.byte_fallback !== true) return undefined;
  if (addedTokens(json).some((entry) => entry.lstrip === true || entry.rstrip === true)) return undefined;
  const { normalizer } = json;
  const parts = !isJsonObject(normalizer)
    ? []
    : Array.isArray(normalizer.normalizers)
      ? normalizer.normalizers
      : [normalizer];
  let factor = 1;
  for (const part of parts as JsonObject[]) {
    if (part.type === 'NFC') factor = 4;
    else if (part.type !== 'Prepend' && !isSpaceReplacement(part)) return undefined;
  }
  return factor;
}

/** Sentencepiece's spelling of a space; the longer spelling only lengthens the text. */
function isSpaceReplacement(part: JsonObject): boolean {
  return (
    part.type === 'Replace' &&
    isJsonObject(part.pattern) &&
    part.pattern.String === ' ' &&
    part.content === '\u2581'
  );
}
