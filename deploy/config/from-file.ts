import { z } from 'zod';
import { TokenrailError, toTokenrailError } from '../../core/errors.ts';
import { fields, unwrap } from './fields.ts';
import { kebab, suggestion } from './names.ts';

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Object keys of the file are kebab-case; anything else is refused with the nearest known key. */
function objectFromFile(schema: z.ZodObject, value: Record<string, unknown>, where: string): unknown {
  const byKey = new Map(Object.keys(schema.shape).map((name) => [kebab(name), name]));
  const result: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    const name = byKey.get(key);
    if (name === undefined) {
      const path = where === '' ? key : `${where}.${key}`;
      throw new TokenrailError(
        'config_invalid',
        `unknown key "${path}"${suggestion(key, [...byKey.keys()])}`,
        { param: path },
      );
    }
    const childSchema = (schema.shape as Record<string, z.ZodType>)[name];
    if (childSchema === undefined || child === null) continue; // an empty value in YAML is null: not given
    result[name] = fromFile(childSchema, child, where === '' ? key : `${where}.${key}`);
  }
  return result;
}

/** The text form of a value, refused under the key's name. */
function parsed(fromText: (text: string) => unknown, text: string, where: string): unknown {
  try {
    return fromText(text);
  } catch (thrown) {
    const { code, message } = toTokenrailError(thrown, 'config_invalid');
    throw where === '' ? thrown : new TokenrailError(code, `${where}: ${message}`, { param: where });
  }
}

/**
 * Turns a value with the file's key names into what the schema checks. Values the schema refuses pass
 * unchanged: the schema complains better. Records (router options, replicas) keep their keys.
 * @param where the key of the file, for messages; empty where the caller names the value
 * @throws TokenrailError `config_invalid` for keys and text forms that are not known
 */
export function fromFile(schema: z.core.$ZodType, value: unknown, where = ''): unknown {
  const inner = unwrap(schema);
  const fromText = (fields.get(schema as z.ZodType) ?? fields.get(inner as z.ZodType))?.fromText;
  const structured =
    typeof value === 'string' && fromText !== undefined ? parsed(fromText, value, where) : value;
  if (inner instanceof z.ZodObject && isPlainObject(structured)) {
    return objectFromFile(inner, structured, where);
  }
  if (inner instanceof z.ZodArray) {
    const { element } = inner;
    if (Array.isArray(structured)) {
      return structured.map((item, i) => fromFile(element, item, `${where}[${i}]`));
    }
    if (typeof structured === 'string' && unwrap(element) instanceof z.ZodString) return [structured];
  }
  return structured;
}
