import { readInt32s, toLittleEndian } from './little-endian.ts';
import { MAX_TOKEN_ID, MAX_TOKENS_PER_MESSAGE, PACK_TOKENS_FROM } from './limits.ts';
import type { TupleReader } from './tuple-reader.ts';

/** Token ids as they travel: a list of integers when few, little-endian int32 bytes otherwise. */
export type WireTokens = readonly number[] | Uint8Array;

export function packTokens(ids: readonly number[]): WireTokens {
  if (ids.length < PACK_TOKENS_FROM) return ids;
  return toLittleEndian(Int32Array.from(ids));
}

function unpackBytes(bytes: Uint8Array): number[] | undefined {
  if (bytes.length % 4 !== 0 || bytes.length > 4 * MAX_TOKENS_PER_MESSAGE) return undefined;
  const words = readInt32s(bytes);
  const ids = new Array<number>(words.length);
  for (let i = 0; i < words.length; i += 1) {
    const id = words[i] ?? -1;
    if (id < 0) return undefined;
    ids[i] = id;
  }
  return ids;
}

function copyList(list: readonly unknown[]): number[] | undefined {
  if (list.length > MAX_TOKENS_PER_MESSAGE) return undefined;
  const ids: number[] = [];
  for (const id of list) {
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id > MAX_TOKEN_ID) return undefined;
    ids.push(id);
  }
  return ids;
}

/** Reads token ids in either form into a list of our own. Required: nil does not pass. */
export function readTokens(reader: TupleReader, field: string, maxTokens = MAX_TOKENS_PER_MESSAGE): number[] {
  const value = reader.raw();
  let ids: number[] | undefined;
  if (Array.isArray(value)) ids = copyList(value);
  else if (value instanceof Uint8Array) ids = unpackBytes(value);
  if (ids !== undefined && ids.length <= maxTokens) return ids;
  reader.fail(field);
  return [];
}
