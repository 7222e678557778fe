import { TokenrailError } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from './json-file.ts';

/** How the strings of a vocabulary stand for bytes. */
export interface ByteForm {
  /** `byte-level`: GPT-2's map of bytes to letters. `byte-fallback`: sentencepiece, `▁` for a space and `<0x0A>` for a byte. */
  kind: 'byte-level' | 'byte-fallback';
  /** Whether the decoder drops one space at the beginning of a text. */
  stripsLeadingSpace: boolean;
}

/** The bytes of all tokens, one after the other. */
export interface TokenBytesTable {
  packed: Uint8Array;
  /** The bytes of token i are `packed[offsets[i] .. offsets[i + 1])`. */
  offsets: Uint32Array;
  maxTokenBytes: number;
}

/**
 * Reads from tokenizer.json how tokens stand for bytes.
 * @throws TokenrailError `checkpoint_invalid` where the decoder is neither byte-level nor byte-fallback
 */
export function byteFormOf(tokenizerJson: JsonObject, path: string): ByteForm {
  const decoders = flatten(tokenizerJson.decoder, 'decoders');
  const preTokenizers = flatten(tokenizerJson.pre_tokenizer, 'pretokenizers');
  if ([...decoders, ...preTokenizers].some((part) => part.type === 'ByteLevel')) {
    return { kind: 'byte-level', stripsLeadingSpace: false };
  }
  const hasMetaspace = decoders.some((part) => part.type === 'Metaspace');
  if (hasMetaspace || decoders.some((part) => part.type === 'ByteFallback')) {
    const strips = (part: JsonObject): boolean =>
      part.type === 'Metaspace'
        ? part.prepend_scheme !== 'never' && part.add_prefix_space !== false
        : part.type === 'Strip' && part.content === ' ' && typeof part.start === 'number' && part.start > 0;
    return { kind: 'byte-fallback', stripsLeadingSpace: decoders.some(strips) };
  }
  const found = decoders.map((part) => String(part.type)).join(', ') || 'none';
  throw new TokenrailError(
    'checkpoint_invalid',
    `${path}: unsupported decoder (${found}); supported: ByteLevel, ByteFallback, Metaspace`,
  );
}

function flatten(part: unknown, listKey: string): JsonObject[] {
  if (!isJsonObject(part)) return [];
  const list = part[listKey];
  return part.type === 'Sequence' && Array.isArray(list)
    ? list.flatMap((inner) => flatten(inner, listKey))
    : [part];
}

/**
 * GPT-2's map, reversed: printable Latin-1 characters stand for themselves, the other bytes in order for
 * U+0100 and up (Radford et al. 2019, `bytes_to_unicode`).
 */
function byteLevelMap(): Map<string, number> {
  const isPrintable = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  const map = new Map<string, number>();
  let numShifted = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    if (isPrintable(byte)) map.set(String.fromCharCode(byte), byte);
    else map.set(String.fromCharCode(0x100 + numShifted++), byte);
  }
  return map;
}

const BYTE_OF_LETTER = byteLevelMap();
const BYTE_TOKEN = /^<0x([0-9A-Fa-f]{2})>$/;

function bytesOf(token: string, kind: ByteForm['kind']): Uint8Array {
  if (kind === 'byte-fallback') {
    const hex = BYTE_TOKEN.exec(token)?.[1];
    return hex === undefined
      ? Buffer.from(token.replaceAll('\u2581', ' '))
      : Uint8Array.of(parseInt(hex, 16));
  }
  const bytes: number[] = [];
  for (const letter of token) {
    const byte = BYTE_OF_LETTER.get(letter);
    if (byte === undefined) return Buffer.from(token); // not a byte string: the decoder takes it as it is
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** @param isAdded whether a token is an added one: its text is meant literally */
export function buildTokenBytes(
  tokens: readonly (string | undefined)[],
  kind: ByteForm['kind'],
  isAdded: (id: number) => boolean,
): TokenBytesTable {
  const parts = Array.from(tokens, (token, id) => {
    if (token === undefined) return new Uint8Array(0);
    return isAdded(id) ? Buffer.from(token) : bytesOf(token, kind);
  });
  const offsets = new Uint32Array(parts.length + 1);
  parts.forEach((part, id) => (offsets[id + 1] = (offsets[id] ?? 0) + part.length));
  const packed = new Uint8Array(offsets[parts.length] ?? 0);
  parts.forEach((part, id) => packed.set(part, offsets[id]));
  return { packed, offsets, maxTokenBytes: parts.reduce((max, part) => Math.max(max, part.length), 0) };
}
