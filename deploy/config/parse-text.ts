import { z } from 'zod';
import type { CatalogEntry } from './catalog.ts';
import { unwrap } from './fields.ts';
import { booleanOrText, numberOrText, splitList } from './text-forms.ts';

/** Turns the text of a flag or of an environment variable into what the schema checks. */
export function parseText(entry: CatalogEntry, text: string): unknown {
  if (entry.meta.fromText !== undefined) return entry.meta.fromText(text);
  const { inner } = entry;
  if (inner instanceof z.ZodArray) return splitList(text);
  if (inner instanceof z.ZodNumber || inner instanceof z.ZodNumberFormat) return numberOrText(text);
  if (inner instanceof z.ZodBoolean) return booleanOrText(text);
  return unwrap(inner) instanceof z.ZodString ? text.trim() : text;
}
