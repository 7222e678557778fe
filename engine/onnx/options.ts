import { resolve } from 'node:path';
import { TokenrailError } from '../../core/errors.ts';
import type { HeadSpec, SignalNeeds } from '../engine.ts';
import type { Quantization } from './weights/write-weights.ts';

/** How to load and run one model. */
export interface OnnxEngineOptions {
  /** Hugging Face checkpoint directory; relative to the working directory. */
  modelDir: string;
  /** 1..M, part of the key of every random draw. */
  modelId: number;
  /** `dummy`: random weights from config.json alone. */
  loadFormat: 'auto' | 'dummy';
  /** Linear layers and head as float32 or as int4 (block 32, int8 activations). */
  quantization: Quantization;
  /** Threads inside an operator. */
  numThreads: number;
  /** Rows of one step at most. At most 32, the largest graph; `EngineInfo.maxNumSeqs` tells what holds. */
  maxNumSeqs: number;
  /** Longest sequence. Default: `max_position_embeddings` of the checkpoint. */
  maxModelLenTokens?: number;
  /** KV budget in blocks. Default: from `kvCacheMemoryBytes`. */
  numKvBlocks?: number;
  /** KV budget in bytes. Default: four full-length sequences per row, but at most a quarter of the memory. */
  kvCacheMemoryBytes?: number;
  /** Tokens per KV block. Default 256. */
  blockSizeTokens?: number;
  /** Ids from here on are padding of the vocabulary: never sampled, never among `topIds`. Default: none. */
  maskIdsFrom?: number;
  /** Width of the graph's top-k. Default 64; raised to `needs.topK`. */
  topK?: number;
  /** What the routers of this deployment declared. */
  needs?: SignalNeeds;
  /** Seed of `loadFormat: 'dummy'`. Default 0. */
  seedForDummy?: number;
}

const DEFAULT_TOP_K = 64;
const DEFAULT_BLOCK_TOKENS = 256;

/** Options with their defaults, plain data for the worker. */
export interface ResolvedOptions {
  modelDir: string;
  modelId: number;
  loadFormat: 'auto' | 'dummy';
  quantization: Quantization;
  numThreads: number;
  maxNumSeqs: number;
  maxModelLenTokens: number | undefined;
  numKvBlocks: number | undefined;
  kvCacheMemoryBytes: number | undefined;
  blockSizeTokens: number;
  maskIdsFrom: number | undefined;
  topK: number;
  heads: readonly HeadSpec[];
  seedForDummy: number;
  /** For tests: skip the self-test and copy keys and values. */
  forceCopiedKv: boolean;
}

/** @throws TokenrailError `config_invalid` naming the option */
export function resolveOptions(options: OnnxEngineOptions): ResolvedOptions {
  const resolved: ResolvedOptions = {
    modelDir: resolve(options.modelDir),
    modelId: options.modelId,
    loadFormat: options.loadFormat,
    quantization: options.quantization,
    numThreads: options.numThreads,
    maxNumSeqs: options.maxNumSeqs,
    maxModelLenTokens: options.maxModelLenTokens,
    numKvBlocks: options.numKvBlocks,
    kvCacheMemoryBytes: options.kvCacheMemoryBytes,
    blockSizeTokens: options.blockSizeTokens ?? DEFAULT_BLOCK_TOKENS,
    maskIdsFrom: options.maskIdsFrom,
    // Two at least: the margin between the best two is a signal of its own.
    topK: Math.max(2, options.topK ?? DEFAULT_TOP_K, options.needs?.topK ?? 0),
    heads: options.needs?.heads ?? [],
    seedForDummy: options.seedForDummy ?? 0,
    forceCopiedKv: false,
  };
  checkCounts(resolved);
  return resolved;
}

function checkCounts(options: ResolvedOptions): void {
  const required = ['modelId', 'numThreads', 'maxNumSeqs', 'blockSizeTokens', 'topK'] as const;
  const optional = ['maxModelLenTokens', 'numKvBlocks', 'kvCacheMemoryBytes', 'maskIdsFrom'] as const;
  for (const key of [...required, ...optional]) {
    const value = options[key];
    if (value === undefined) continue;
    if (!Number.isInteger(value) || value < 1) {
      throw new TokenrailError(
        'config_invalid',
        `engine option "${key}" must be a positive integer, found ${value}`,
      );
    }
  }
}
