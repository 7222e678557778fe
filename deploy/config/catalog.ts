import { z } from 'zod';
import { configSchema } from './schema.ts';
import { defaultOf, fields, unwrap } from './fields.ts';
import type { FieldMeta } from './fields.ts';
import { environmentName, kebab } from './names.ts';

/** One documented key. */
export interface CatalogEntry {
  /** Path in the parsed configuration. */
  path: readonly string[];
  /** Name in the file: `max-num-seqs`, `advanced.heartbeat-ms`. */
  key: string;
  /** Flag without dashes: `max-num-seqs`, `advanced-heartbeat-ms`. */
  flag: string;
  environment: string;
  schema: z.core.$ZodType;
  /** The schema below default and optionality. */
  inner: z.core.$ZodType;
  defaultValue: unknown;
  meta: FieldMeta;
  /** False for keys that have no text form and so live in the file only. */
  hasFlag: boolean;
}

function isTextual(inner: z.core.$ZodType, meta: FieldMeta): boolean {
  if (meta.fromText !== undefined) return true;
  if (inner instanceof z.ZodArray) return unwrap(inner.element) instanceof z.ZodString;
  return !(inner instanceof z.ZodObject) && !(inner instanceof z.ZodRecord);
}

function walk(schema: z.ZodObject, prefix: readonly string[], entries: CatalogEntry[]): void {
  for (const [name, child] of Object.entries<z.ZodType>(schema.shape)) {
    const path = [...prefix, name];
    const meta = fields.get(child);
    const inner = unwrap(child);
    if (meta === undefined) {
      if (inner instanceof z.ZodObject) walk(inner, path, entries);
      continue;
    }
    const flag = path.map(kebab).join('-');
    entries.push({
      path,
      key: path.map(kebab).join('.'),
      flag,
      environment: environmentName(flag),
      schema: child,
      inner,
      defaultValue: defaultOf(child),
      meta,
      hasFlag: isTextual(inner, meta),
    });
  }
}

function build(): CatalogEntry[] {
  const entries: CatalogEntry[] = [];
  walk(configSchema, [], entries);
  return entries;
}

/** Every documented key, in the order of the schema. */
export const catalog: readonly CatalogEntry[] = build();
