import { z } from 'zod';

/** Heading under which a key appears in `--help` and in docs/configuration.md. */
export type Section = 'deployment' | 'engine' | 'gateway' | 'process' | 'advanced';

/** What the schema itself cannot say about a key. */
export interface FieldMeta {
  section: Section;
  /** One sentence, with the unit where the name does not carry it. */
  help: string;
  /** What stands for the value in `--help`: `N`, `URL`, `NAME,…`. */
  placeholder: string;
  /** Default in words, where it is computed and the schema has none. */
  defaultText?: string;
  /** Parses the text form of flags and environment variables; scalars and lists of strings need none. */
  fromText?: (text: string) => unknown;
  /** The value never appears in a message. */
  isSecret?: boolean;
}

/** Every documented key of the configuration; help, docs and parsing are generated from it. */
export const fields = z.registry<FieldMeta>();

/** Attaches `meta` to a schema and returns the same schema. */
export function field<S extends z.ZodType>(schema: S, meta: FieldMeta): S {
  fields.add(schema, meta);
  return schema;
}

/** The schema below defaults and optionality. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let current = schema;
  while (
    current instanceof z.ZodDefault ||
    current instanceof z.ZodOptional ||
    current instanceof z.ZodPrefault
  ) {
    current = current.def.innerType;
  }
  return current;
}

/** The default a schema declares, if any. */
export function defaultOf(schema: z.core.$ZodType): unknown {
  return schema instanceof z.ZodDefault ? schema.def.defaultValue : undefined;
}
