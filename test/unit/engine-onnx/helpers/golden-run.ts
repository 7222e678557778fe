import { loadModel, type LoadedModel } from '../../../../engine/onnx/load-model.ts';
import { resolveOptions, type OnnxEngineOptions } from '../../../../engine/onnx/options.ts';
import type { KvPath } from '../../../../engine/onnx/runtime/ragged-runner.ts';
import { SequenceCache } from '../../../../engine/onnx/runtime/sequence-cache.ts';
import type { Golden } from './golden.ts';

export const DEFAULTS = {
  modelId: 1,
  loadFormat: 'auto',
  quantization: 'none',
  numThreads: 1,
  maxNumSeqs: 16,
} as const satisfies Partial<OnnxEngineOptions>;

/** Loads a model on this thread, below the worker. */
export function loadHere(modelDir: string, options: Partial<OnnxEngineOptions> = {}): LoadedModel {
  return loadModel(resolveOptions({ ...DEFAULTS, modelDir, ...options }));
}

export function unload(model: LoadedModel): void {
  model.runner.close();
  model.files.close();
}

/** A part of a golden sequence to feed: tokens [past, past + count). */
export interface Part {
  sequence: number;
  past: number;
  count: number;
}

/** Feeds golden sequences in any order of parts and compares every position with the golden. */
export class GoldenRun {
  worstLogit = 0;
  worstHidden = 0;
  positions = 0;
  private readonly model: LoadedModel;
  private readonly golden: Golden;
  private readonly caches = new Map<number, SequenceCache>();

  constructor(model: LoadedModel, golden: Golden, kvPath: KvPath = 'in-place') {
    this.model = model;
    this.golden = golden;
    model.runner.kvPath = kvPath;
  }

  /** One step. */
  feed(parts: readonly Part[], minRows?: number): void {
    const rows = parts.map((part) => ({
      cache: this.cache(part.sequence),
      past: part.past,
      tokens: this.ids(part.sequence).slice(part.past, part.past + part.count),
      wanted: 'all' as const,
    }));
    const { outputs, firstPositions } = this.model.runner.run(rows, minRows);
    for (const [index, part] of parts.entries()) {
      for (let i = 0; i < part.count; i += 1) {
        const position = (firstPositions[index] ?? 0) + i;
        this.compare(part.sequence, part.past + i, outputs.logits(position), outputs.hidden(position));
      }
    }
  }

  /** Feeds tokens that are not the sequence's own, to be rolled back. */
  feedWrong(sequence: number, past: number, tokens: readonly number[]): void {
    this.model.runner.run([{ cache: this.cache(sequence), past, tokens, wanted: 'last' }]);
  }

  length(sequence: number): number {
    return this.ids(sequence).length;
  }

  private ids(sequence: number): number[] {
    return this.golden.sequences[sequence]?.ids ?? [];
  }

  private cache(sequence: number): SequenceCache {
    let cache = this.caches.get(sequence);
    if (cache === undefined) {
      cache = new SequenceCache(this.model.config, this.model.limits.maxModelLenTokens);
      this.caches.set(sequence, cache);
    }
    return cache;
  }

  private compare(sequence: number, position: number, logits: Float32Array, hidden: Float32Array): void {
    const golden = this.golden.sequences[sequence];
    if (golden === undefined) throw new Error(`no sequence ${sequence}`);
    const width = this.golden.vocabSize;
    const size = this.golden.hiddenSize;
    this.worstLogit = worse(
      this.worstLogit,
      logits,
      golden.logits.subarray(position * width, (position + 1) * width),
    );
    this.worstHidden = worse(
      this.worstHidden,
      hidden,
      golden.hidden.subarray(position * size, (position + 1) * size),
    );
    this.positions += 1;
  }
}

/** The larger of `worst` and the largest difference; NaN and a wrong length count as infinite. */
function worse(worst: number, actual: Float32Array, expected: Float32Array): number {
  if (actual.length !== expected.length) return Infinity;
  let result = worst;
  for (let i = 0; i < actual.length; i += 1) {
    const difference = Math.abs((actual[i] ?? NaN) - (expected[i] ?? NaN));
    if (!(difference <= result)) result = Number.isNaN(difference) ? Infinity : difference;
  }
  return result;
}
