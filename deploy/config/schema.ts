import { z } from 'zod';
import { advancedSchema } from './schema/advanced.ts';
import { deploymentShape } from './schema/deployment.ts';
import { engineDefaults, engineShape } from './schema/engine.ts';
import { field, fields } from './fields.ts';
import { gatewayShape } from './schema/gateway.ts';
import { processShape } from './schema/process.ts';
import { recordShape } from './schema/record.ts';

/** A schema with the default that {@link engineDefaults} gives it, documented like the schema itself. */
function withDefault<S extends z.ZodType>(schema: S, value: z.output<S>): z.ZodDefault<S> {
  const result = schema.default(value as z.core.util.NoUndefined<z.output<S>>);
  const meta = fields.get(schema);
  return meta === undefined ? result : field(result, meta);
}

function optional<S extends z.ZodType>(schema: S): z.ZodOptional<S> {
  const result = schema.optional();
  const meta = fields.get(schema);
  return meta === undefined ? result : field(result, meta);
}

const engineFields = {
  engine: withDefault(engineShape.engine, engineDefaults.engine),
  simulated: optional(engineShape.simulated),
  loadFormat: withDefault(engineShape.loadFormat, engineDefaults.loadFormat),
  quantization: withDefault(engineShape.quantization, engineDefaults.quantization),
  threads: withDefault(engineShape.threads, engineDefaults.threads),
  maxNumSeqs: withDefault(engineShape.maxNumSeqs, engineDefaults.maxNumSeqs),
  maxNumBatchedTokens: withDefault(engineShape.maxNumBatchedTokens, engineDefaults.maxNumBatchedTokens),
  blockSize: withDefault(engineShape.blockSize, engineDefaults.blockSize),
  policy: withDefault(engineShape.policy, engineDefaults.policy),
  maxModelLen: optional(engineShape.maxModelLen),
  numKvBlocks: optional(engineShape.numKvBlocks),
  kvCacheMemoryBytes: optional(engineShape.kvCacheMemoryBytes),
};

/**
 * The whole configuration. Types, defaults, validation, `--help` and docs/configuration.md come from here.
 * Keys are written in kebab-case in files and flags.
 */
export const configSchema = z.strictObject({
  ...deploymentShape,
  ...recordShape,
  ...engineFields,
  ...gatewayShape,
  ...processShape,
  advanced: advancedSchema.prefault({}),
});

type DeepReadonly<T> = T extends (infer U)[]
  ? readonly DeepReadonly<U>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The configuration as written: defaults filled in, references between keys not yet resolved. */
export type Config = DeepReadonly<z.output<typeof configSchema>>;
export type ModelConfig = NonNullable<Config['models']>[number];
