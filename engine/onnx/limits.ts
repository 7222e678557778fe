import { totalmem } from 'node:os';
import { TokenrailError } from '../../core/errors.ts';
import { checkpointError } from './checkpoint/checkpoint-error.ts';
import { countParameters } from './checkpoint/expected-tensors.ts';
import type { ModelConfig } from './checkpoint/model-config.ts';
import type { ResolvedOptions } from './options.ts';
import { kvBytesPerToken } from './runtime/sequence-cache.ts';

/** Rows of the graphs that are built, up to `maxNumSeqs`. */
const LADDER_ROWS = [1, 8, 16, 32];
/**
 * Slots without a row cost an attention kernel per layer: nothing in a large model, half the step in one whose
 * layers are as cheap. Small models also load fast enough for more graphs.
 */
const SMALL_MODEL_LADDER_ROWS = [1, 2, 4, 8, 16, 32];
const SMALL_MODEL_PARAMETERS = 16e6;
const MAX_ROWS = 32;
const DEFAULT_SEQUENCES_PER_ROW = 4;
const DEFAULT_MEMORY_SHARE = 0.25;

/** Sizes that follow from the checkpoint and the options together. */
export interface EngineLimits {
  maxModelLenTokens: number;
  maxNumSeqs: number;
  ladderRows: readonly number[];
  numKvBlocks: number;
  /** Ids below this may be sampled. */
  sampledVocab: number;
  topK: number;
}

/** @throws TokenrailError `config_invalid` or `checkpoint_invalid` where the options do not suit the checkpoint */
export function engineLimits(config: ModelConfig, options: ResolvedOptions): EngineLimits {
  const maxModelLenTokens = options.maxModelLenTokens ?? config.maxPositionEmbeddings;
  if (maxModelLenTokens > config.maxPositionEmbeddings) {
    throw new TokenrailError(
      'config_invalid',
      `maxModelLenTokens ${maxModelLenTokens} exceeds the checkpoint's max_position_embeddings ${config.maxPositionEmbeddings}`,
    );
  }
  const window = config.slidingWindowTokens;
  if (window !== undefined && window < maxModelLenTokens) {
    throw checkpointError(
      `${options.modelDir}: sliding-window attention over ${window} tokens is not supported; set maxModelLenTokens to at most ${window}`,
    );
  }
  const sampledVocab = Math.min(options.maskIdsFrom ?? config.vocabSize, config.vocabSize);
  const maxNumSeqs = Math.min(options.maxNumSeqs, MAX_ROWS);
  const ladder = countParameters(config) <= SMALL_MODEL_PARAMETERS ? SMALL_MODEL_LADDER_ROWS : LADDER_ROWS;
  return {
    maxModelLenTokens,
    maxNumSeqs,
    ladderRows: [...ladder.filter((rows) => rows < maxNumSeqs), maxNumSeqs],
    numKvBlocks: kvBlocks(config, options, maxModelLenTokens, maxNumSeqs),
    sampledVocab,
    topK: Math.min(options.topK, sampledVocab),
  };
}

function kvBlocks(
  config: ModelConfig,
  options: ResolvedOptions,
  maxModelLenTokens: number,
  maxNumSeqs: number,
): number {
  if (options.numKvBlocks !== undefined) return options.numKvBlocks;
  const blockBytes = options.blockSizeTokens * kvBytesPerToken(config);
  if (options.kvCacheMemoryBytes !== undefined) {
    const blocks = Math.floor(options.kvCacheMemoryBytes / blockBytes);
    if (blocks >= 1) return blocks;
    throw new TokenrailError(
      'config_invalid',
      `kvCacheMemoryBytes ${options.kvCacheMemoryBytes} holds no block; one takes ${blockBytes} bytes`,
    );
  }
  const perSequence = Math.ceil(maxModelLenTokens / options.blockSizeTokens);
  const wanted = DEFAULT_SEQUENCES_PER_ROW * maxNumSeqs * perSequence;
  const affordable = Math.floor((totalmem() * DEFAULT_MEMORY_SHARE) / blockBytes);
  return Math.max(perSequence, Math.min(wanted, affordable));
}
