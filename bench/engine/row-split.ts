import { INPUT, pastKey, pastValue, presentKey, presentValue } from '../../engine/onnx/graph/io-names.ts';
import { runInPlace } from '../../engine/onnx/runtime/in-place-run.ts';
import {
  float32Tensor,
  type Feeds,
  type Fetches,
  type RawTensor,
} from '../../engine/onnx/runtime/ort-session.ts';
import { TOTAL_LENGTH } from './batched-attention.ts';
import { fill, type BenchModel, type BenchSettings } from './bench-model.ts';
import { median } from '../handoff/statistics.ts';
import { interleave, timed } from './interleave.ts';
import type { Measurement } from './measurement.ts';

/** A decode step on our graph against the same step on an ordinary batched graph over the same weights. */
export function measureRowSplit(model: BenchModel, settings: BenchSettings, rounds: number): Measurement[] {
  const { rows, contextTokens } = settings;
  const tokens = Array.from({ length: rows }, (_, row) => 1 + row * 97);
  const ours = model.caches.map((cache, row) => ({
    cache,
    past: contextTokens,
    tokens: [tokens[row] ?? 1],
    wanted: 'last' as const,
  }));
  const { feeds, fetches } = batchedInputs(model, settings, tokens);
  const samples = interleave(
    {
      split: () => timed(() => model.runner.run(ours)),
      batched: () =>
        timed(() => {
          if (!runInPlace(model.batched, feeds, fetches))
            throw new Error('the batched graph copied its outputs');
        }),
    },
    rounds,
  );
  const [splitMs, batchedMs] = [median(samples['split'] ?? []), median(samples['batched'] ?? [])];
  const what = `${rows} rows at ${contextTokens} tokens`;
  return [
    { name: `decode step, batched graph, ${what}`, value: batchedMs, unit: 'ms' },
    { name: `decode step, row-split graph, ${what}`, value: splitMs, unit: 'ms' },
    { name: 'row-split / batched', value: splitMs / batchedMs, unit: '×', atMost: 1.12 },
  ];
}

function batchedInputs(
  model: BenchModel,
  settings: BenchSettings,
  tokens: readonly number[],
): { feeds: Feeds; fetches: Fetches } {
  const { config } = model;
  const { rows, contextTokens } = settings;
  const int32 = (values: number[]): RawTensor => ({
    type: 'int32',
    dims: [values.length],
    data: Int32Array.from(values),
    location: 'cpu',
  });
  const int64 = (values: readonly number[], dims: number[]): RawTensor => ({
    type: 'int64',
    dims,
    data: BigInt64Array.from(values, BigInt),
    location: 'cpu',
  });
  const feeds: Feeds = {
    [INPUT.ids]: int64(tokens, [1, rows]),
    [INPUT.positions]: int64([...tokens.keys()], [rows]),
    [INPUT.lastKey]: int32(tokens.map(() => contextTokens)),
    [TOTAL_LENGTH]: int32([contextTokens + 1]),
  };
  const fetches: Fetches = { ...model.batchedOutputs.fetches(rows, rows) };
  const length = model.caches[0]?.lengthTokens ?? 0;
  const dims = [rows, config.numKvHeads, length, config.headDim];
  const buffer = (): RawTensor => {
    const data = new Float32Array(rows * config.numKvHeads * length * config.headDim);
    fill(data);
    return float32Tensor(data, dims);
  };
  for (let layer = 0; layer < config.numLayers; layer += 1) {
    const [keys, values] = [buffer(), buffer()];
    feeds[pastKey(0, layer)] = keys;
    feeds[pastValue(0, layer)] = values;
    fetches[presentKey(0, layer)] = keys;
    fetches[presentValue(0, layer)] = values;
  }
  return { feeds, fetches };
}
