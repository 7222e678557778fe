import { fileURLToPath } from 'node:url';
import { DummyWeights } from '../../engine/onnx/checkpoint/dummy-weights.ts';
import type { ModelConfig } from '../../engine/onnx/checkpoint/model-config.ts';
import { readModelConfig } from '../../engine/onnx/checkpoint/read-config.ts';
import { buildDecoderGraph } from '../../engine/onnx/graph/decoder-graph.ts';
import { ModelFiles } from '../../engine/onnx/model-files.ts';
import { GraphSlots } from '../../engine/onnx/runtime/graph-slots.ts';
import { openSession, type Session } from '../../engine/onnx/runtime/ort-session.ts';
import { RaggedRunner } from '../../engine/onnx/runtime/ragged-runner.ts';
import { SequenceCache } from '../../engine/onnx/runtime/sequence-cache.ts';
import { StepOutputs } from '../../engine/onnx/runtime/step-outputs.ts';
import { writeWeights, type Quantization } from '../../engine/onnx/weights/write-weights.ts';
import { BatchedAttention } from './batched-attention.ts';

export const SMOLLM2_DIR = fileURLToPath(new URL('../fixtures/smollm2-135m', import.meta.url));

export interface BenchSettings {
  quantization: Quantization;
  rows: number;
  contextTokens: number;
  numThreads: number;
}

/** One set of random weights under our graph and under an ordinary batched one. */
export interface BenchModel {
  config: ModelConfig;
  runner: RaggedRunner;
  /** Outputs of the batched session; the runner has its own. */
  batchedOutputs: StepOutputs;
  batched: Session;
  /** One cache per row, filled with random numbers. */
  caches: readonly SequenceCache[];
  close(): void;
}

export function openBenchModel(settings: BenchSettings): BenchModel {
  const config = readModelConfig(SMOLLM2_DIR);
  const { rows, contextTokens } = settings;
  const maxModelLenTokens = contextTokens + 64;
  const files = new ModelFiles();
  writeWeights(files.weights, config, new DummyWeights(0, false), {
    quantization: settings.quantization,
    maxModelLenTokens,
  });
  const spec = { config, topK: 64, sampledVocab: config.vocabSize };
  const options = { numThreads: settings.numThreads, sharesWeights: settings.quantization === 'none' };
  const split = openSession(
    files.writeGraph(`decoder-${rows}`, buildDecoderGraph(files.weights, { ...spec, rows })),
    options,
  );
  const batchedGraph = buildDecoderGraph(
    files.weights,
    { ...spec, rows },
    (graph) => new BatchedAttention(graph, config, rows),
  );
  const batched = openSession(files.writeGraph('batched', batchedGraph), options);
  files.removeNames();
  const idle = new SequenceCache(config, 1);
  const caches = Array.from({ length: rows }, () => new SequenceCache(config, maxModelLenTokens));
  for (const cache of caches)
    for (const { data } of [...cache.keys, ...cache.values]) fill(data as Float32Array);
  return {
    config,
    runner: new RaggedRunner(
      [new GraphSlots(split, rows, config.numLayers, idle)],
      new StepOutputs(spec),
      'in-place',
    ),
    batchedOutputs: new StepOutputs(spec),
    batched,
    caches,
    close: () => {
      split.dispose();
      batched.dispose();
      files.close();
    },
  };
}

/** Pages that were never written would all be the same page of zeros, and far too quick to read. */
export function fill(values: Float32Array): void {
  let state = 1;
  for (let i = 0; i < values.length; i += 1) {
    state = Math.imul(state, 1_664_525) + 1_013_904_223;
    values[i] = (state >> 8) / 0x80_0000;
  }
}
