import type { PeerReq } from '../messages.ts';
import { MAX_ALGO_FIELDS, MAX_ALGO_NUMBERS, MAX_ALGO_TEXT_CHARS } from './limits.ts';
import { isFieldName } from './patterns.ts';
import type { TupleReader } from './tuple-reader.ts';

type AlgoFields = NonNullable<PeerReq['algo']>;
type AlgoValue = AlgoFields[string];

function isAlgoValue(value: unknown): value is AlgoValue {
  if (typeof value === 'number' || typeof value === 'boolean') return true;
  if (typeof value === 'string') return value.length <= MAX_ALGO_TEXT_CHARS;
  return (
    Array.isArray(value) &&
    value.length <= MAX_ALGO_NUMBERS &&
    value.every((item) => typeof item === 'number')
  );
}

/**
 * Name of the first field that receivers would refuse, undefined when all is well. Fields come from routers,
 * which users write: callers check before they send, or the handoff would be dropped at the other end.
 */
export function invalidAlgoField(fields: Readonly<Record<string, unknown>>): string | undefined {
  const names = Object.keys(fields);
  if (names.length > MAX_ALGO_FIELDS) return names[MAX_ALGO_FIELDS];
  return names.find((name) => !isFieldName(name) || !isAlgoValue(fields[name]));
}

/** `[name, value, name, value, …]`: flat, because a map's keys would need the decoder's trust. */
export function packAlgo(fields: AlgoFields): unknown[] {
  return Object.entries(fields).flatMap(([name, value]) => [name, value]);
}

export function readOptionalAlgo(reader: TupleReader, field: string): AlgoFields | undefined {
  const flat = reader.raw();
  if (flat === undefined) return undefined;
  const fields: Record<string, AlgoValue> = {};
  if (!Array.isArray(flat) || flat.length % 2 !== 0 || flat.length > 2 * MAX_ALGO_FIELDS) {
    reader.fail(field);
    return undefined;
  }
  for (let i = 0; i < flat.length; i += 2) {
    const name: unknown = flat[i];
    const value: unknown = flat[i + 1];
    if (typeof name !== 'string' || !isFieldName(name) || !isAlgoValue(value)) {
      reader.fail(field);
      return undefined;
    }
    fields[name] = typeof value === 'object' ? [...value] : value;
  }
  return fields;
}
