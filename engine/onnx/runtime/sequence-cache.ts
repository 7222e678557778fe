import type { ModelConfig } from '../checkpoint/model-config.ts';
import { float32Tensor, type RawTensor } from './ort-session.ts';

/**
 * Keys and values of one sequence: per layer two buffers [1, kvHeads, length, headDim] whose tensors are built
 * once. The operating system commits their pages when they are first written.
 */
export class SequenceCache {
  readonly keys: readonly RawTensor[];
  readonly values: readonly RawTensor[];
  readonly lengthTokens: number;

  constructor(config: ModelConfig, lengthTokens: number) {
    const dims = [1, config.numKvHeads, lengthTokens, config.headDim];
    const size = config.numKvHeads * lengthTokens * config.headDim;
    // One allocation for all: many large ones in a row would set off garbage collections.
    const memory = new ArrayBuffer(2 * config.numLayers * size * Float32Array.BYTES_PER_ELEMENT);
    const part = (index: number): RawTensor =>
      float32Tensor(new Float32Array(memory, index * size * Float32Array.BYTES_PER_ELEMENT, size), dims);
    this.keys = Array.from({ length: config.numLayers }, (_, layer) => part(2 * layer));
    this.values = Array.from({ length: config.numLayers }, (_, layer) => part(2 * layer + 1));
    this.lengthTokens = lengthTokens;
  }
}

/** Bytes of keys and values per token. */
export function kvBytesPerToken(config: ModelConfig): number {
  return 2 * config.numLayers * config.numKvHeads * config.headDim * Float32Array.BYTES_PER_ELEMENT;
}

/** The caches of the sequences that are alive, and a few released ones for reuse. */
export class CachePool {
  private readonly config: ModelConfig;
  private readonly lengthTokens: number;
  private readonly maxSpare: number;
  private readonly bySeq = new Map<number, SequenceCache>();
  private readonly spare: SequenceCache[] = [];

  constructor(config: ModelConfig, lengthTokens: number, maxSpare: number) {
    this.config = config;
    this.lengthTokens = lengthTokens;
    this.maxSpare = maxSpare;
  }

  /** The cache of a sequence, taken from the spare ones or made at first use. Its old contents are never read. */
  take(seq: number): SequenceCache {
    let cache = this.bySeq.get(seq);
    if (cache === undefined) {
      cache = this.spare.pop() ?? new SequenceCache(this.config, this.lengthTokens);
      this.bySeq.set(seq, cache);
    }
    return cache;
  }

  /** @returns the cache where it is not kept for reuse; whoever still refers to it should let go */
  release(seq: number): SequenceCache | undefined {
    const cache = this.bySeq.get(seq);
    this.bySeq.delete(seq);
    if (cache === undefined || this.spare.length >= this.maxSpare) return cache;
    this.spare.push(cache);
    return undefined;
  }
}
