import { join } from 'node:path';
import { z } from 'zod';
import type { ResolvedConfig } from '../config/deployment.ts';
import { nameSchema, routerSchema } from '../config/schema/deployment.ts';
import { checkVocabularies } from '../vocabulary-check.ts';
import { fileDigest } from '../file-digest.ts';

export const RECORDING_FORMAT = 'tokenrail-recording';
/** Version of the file's layout; what a record holds is the wire protocol's. */
export const RECORDING_VERSION = 1;

const modelSchema = z.object({
  id: z.int().min(1).max(255),
  name: nameSchema,
  /** Checkpoint directory on the machine that recorded. */
  path: z.string().min(1),
  /** SHA-256 of its tokenizer.json. */
  tokenizer: z.string(),
  engine: z.enum(['onnx', 'simulated']),
  loadFormat: z.enum(['auto', 'dummy']),
});

/** First chunk of a recording: what it is a recording of. Fields of later versions are ignored. */
export const headerSchema = z
  .object({
    format: z.literal(RECORDING_FORMAT),
    version: z.literal(RECORDING_VERSION),
    /** Begin of the recording, ISO 8601. */
    recordedAt: z.string(),
    configHash: z.string().min(1),
    home: z.int().min(1),
    models: z.array(modelSchema).min(1),
    routers: z.array(routerSchema).min(1),
    defaultRouter: z.string(),
    /** Token ids from here on are padding. */
    maskIdsFrom: z.int().min(0),
    /** What relative paths in the routers' options are relative to. */
    routersBaseDir: z.string(),
  })
  // Decisions are counted by model id: it is the place in the list.
  .refine(({ models }) => models.every(({ id }, i) => id === i + 1), {
    path: ['models'],
    error: 'ids must be 1, 2, … in this order',
  })
  .refine(({ home, models }) => home <= models.length, { path: ['home'], error: 'is none of the models' });

export type RecordingHeader = z.output<typeof headerSchema>;

/** Last chunk of a recording that ended in good order. */
export const endSchema = z.object({
  end: z.literal(true),
  requests: z.int().min(0),
  ended: z.int().min(0),
  steps: z.int().min(0),
  /** Records that were lost on the way. */
  missed: z.int().min(0),
});

export type RecordingEnd = z.output<typeof endSchema>;

/** The header of a recording of this deployment, begun at `epochMs`. */
export function headerOf(resolved: ResolvedConfig, epochMs: number): RecordingHeader {
  const { deployment, configHash, models, routersBaseDir } = resolved;
  return {
    format: RECORDING_FORMAT,
    version: RECORDING_VERSION,
    recordedAt: new Date(epochMs).toISOString(),
    configHash,
    home: deployment.home,
    models: models.map(({ id, name, path, engine, loadFormat }) => ({
      id,
      name,
      path,
      tokenizer: fileDigest(join(path, 'tokenizer.json')),
      engine,
      loadFormat,
    })),
    routers: deployment.routers.map(({ id, use, options }) => ({ id, use, options: { ...options } })),
    defaultRouter: deployment.defaultRouter,
    maskIdsFrom: checkVocabularies(models).maskIdsFrom,
    routersBaseDir,
  };
}
