import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { TokenrailError } from '../core/errors.ts';
import type { SamplingParams } from '../core/request.ts';

/** What processes without an engine need to know about a checkpoint. */
export interface CheckpointFacts {
  architecture: string;
  /** Width of the logits. */
  vocabSize: number;
  maxPositions: number;
  eosIds: readonly number[];
  /** How tokens are drawn where a request says nothing. */
  defaultSampling: Omit<SamplingParams, 'seed'>;
}

const idOrIds = z.union([z.int().min(0), z.array(z.int().min(0))]).nullish();

const configFile = z.object({
  architectures: z.array(z.string()).min(1),
  vocab_size: z.int().min(1),
  max_position_embeddings: z.int().min(1),
  eos_token_id: idOrIds,
});

const generationFile = z.object({
  eos_token_id: idOrIds,
  do_sample: z.boolean().nullish(),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().nullish(),
  min_p: z.number().min(0).max(1).nullish(),
});

type GenerationFile = z.output<typeof generationFile>;

const isMissing = (thrown: unknown): boolean =>
  (thrown as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';

function readJson<S extends z.ZodType>(path: string, schema: S): z.output<S> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (thrown) {
    const reason = isMissing(thrown) ? 'does not exist' : (thrown as Error).message;
    throw new TokenrailError('checkpoint_invalid', `${path}: ${reason}`, { cause: thrown });
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new TokenrailError(
    'checkpoint_invalid',
    `${path}: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong'}`,
  );
}

function readGenerationFile(path: string): GenerationFile {
  try {
    return readJson(path, generationFile);
  } catch (thrown) {
    if (isMissing((thrown as TokenrailError).cause)) return {};
    throw thrown;
  }
}

/** Greedy unless the checkpoint asks for sampling; as `transformers` reads the file. */
function samplingOf(file: GenerationFile): CheckpointFacts['defaultSampling'] {
  if (file.do_sample !== true) return { temperature: 0, topP: 1, topK: -1, minP: 0 };
  return {
    temperature: file.temperature ?? 1,
    topP: file.top_p || 1,
    topK: file.top_k === 0 ? -1 : (file.top_k ?? -1),
    minP: file.min_p ?? 0,
  };
}

/** @throws TokenrailError `checkpoint_invalid` naming the file and the field */
export function readCheckpointFacts(dir: string): CheckpointFacts {
  const config = readJson(join(dir, 'config.json'), configFile);
  const generation = readGenerationFile(join(dir, 'generation_config.json'));
  const eos = generation.eos_token_id ?? config.eos_token_id ?? [];
  return {
    architecture: config.architectures[0] ?? '',
    vocabSize: config.vocab_size,
    maxPositions: config.max_position_embeddings,
    eosIds: typeof eos === 'number' ? [eos] : eos,
    defaultSampling: samplingOf(generation),
  };
}
