import { describe, expect, it } from 'vitest';
import type { SampledRow } from '../../../engine/engine.ts';
import { EMBEDDING, HEAD } from '../../../engine/onnx/checkpoint/expected-tensors.ts';
import { toFloat32 } from '../../../engine/onnx/checkpoint/to-float32.ts';
import { openCore, rowOf, sampled } from './helpers/core.ts';
import { readTensors } from './helpers/checkpoints.ts';
import { loadGolden } from './helpers/golden.ts';

/** Entropy and log-sum-exp in double precision. */
function reference(logits: Float32Array): { logSumExp: number; entropy: number } {
  const max = logits.reduce((best, value) => Math.max(best, value), -Infinity);
  const weights = Array.from(logits, (value) => Math.exp(value - max));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const logSumExp = max + Math.log(total);
  const entropy = weights.reduce(
    (sum, weight, i) => sum + (weight / total) * (logSumExp - (logits[i] ?? 0)),
    0,
  );
  return { logSumExp, entropy };
}

const ranked = (logits: Float32Array): number[] =>
  [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));

describe.each(['llama', 'qwen3', 'embedded-small'])('signals of %s', (name) => {
  const golden = loadGolden(name);
  const sequences = golden.sequences;
  const last = (i: number): Float32Array =>
    sequences[i]?.logits.subarray(-golden.vocabSize) ?? new Float32Array();

  const step = (options: Parameters<typeof openCore>[1], needs = {}): SampledRow[] => {
    const core = openCore(golden.modelDir, options);
    return core
      .step(
        sequences.map(({ ids }, i) => rowOf(i, 0, ids)),
        needs,
      )
      .rows.map(sampled);
  };

  it('equal those computed from the golden logits', () => {
    for (const [i, row] of step({ needs: { topK: 5 } }, { topK: 5 }).entries()) {
      const { logSumExp, entropy } = reference(last(i));
      const order = ranked(last(i));
      const [best = 0, second = 0] = order;
      expect(row.entropyNats).toBeCloseTo(entropy, 4);
      expect(row.normalizedEntropy).toBeCloseTo(entropy / Math.log(golden.vocabSize), 4);
      expect(row.sampled).toBe(best);
      expect(row.logprob).toBeCloseTo((last(i)[best] ?? 0) - logSumExp, 4);
      expect(row.top2Margin).toBeCloseTo((last(i)[best] ?? 0) - (last(i)[second] ?? 0), 4);
      expect([...(row.topIds ?? [])]).toEqual(order.slice(0, 5));
      for (const [rank, id] of order.slice(0, 5).entries())
        expect(row.topValues?.[rank]).toBeCloseTo(last(i)[id] ?? 0, 4);
    }
  });

  it('are only those that were asked for', () => {
    for (const row of step({})) {
      expect([row.topValues, row.topIds, row.hidden, row.embedding, row.logits]).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
        undefined,
      ]);
    }
  });

  it('hidden is the vector that the head multiplies; embedding the sampled token’s input row', () => {
    const rows = step({}, { hidden: true, embedding: true, logits: true });
    for (const [i, row] of rows.entries()) {
      const goldenHidden = sequences[i]?.hidden.subarray(-golden.hiddenSize) ?? new Float32Array();
      expect(row.hidden?.length).toBe(golden.hiddenSize);
      row.hidden?.forEach((value, k) => expect(value).toBeCloseTo(goldenHidden[k] ?? NaN, 4));
      const tensors = readTensors(`${golden.modelDir}/model.safetensors`);
      const matrix = (key: string) => {
        const tensor = tensors.get(key);
        return tensor === undefined ? undefined : toFloat32(tensor.bytes, tensor.dtype);
      };
      const embedding = matrix(EMBEDDING) ?? new Float32Array();
      const head = matrix(HEAD) ?? embedding;
      const rowOfMatrix = (m: Float32Array, id: number) =>
        m.subarray(id * golden.hiddenSize, (id + 1) * golden.hiddenSize);
      expect(row.embedding).toEqual(rowOfMatrix(embedding, row.sampled).slice());
      for (let id = 0; id < golden.vocabSize; id += 7) {
        const product = rowOfMatrix(head, id).reduce(
          (sum, weight, k) => sum + weight * (row.hidden?.[k] ?? NaN),
          0,
        );
        expect(row.logits?.[id]).toBeCloseTo(product, 3);
      }
    }
  });

  it('padding of the vocabulary is never listed nor sampled, but counts in the entropy', () => {
    const limit = 40;
    for (const [i, row] of step({ maskIdsFrom: limit }, { topK: 64 }).entries()) {
      const order = ranked(last(i)).filter((id) => id < limit);
      expect([...(row.topIds ?? [])]).toEqual(order);
      expect(row.sampled).toBe(order[0]);
      const { logSumExp, entropy } = reference(last(i));
      expect(row.entropyNats).toBeCloseTo(entropy, 4);
      expect(row.logprob).toBeCloseTo((last(i)[row.sampled] ?? 0) - logSumExp, 4);
    }
  });
});

it('a row that does not reach the end of its prompt is fed and not sampled', () => {
  const golden = loadGolden('llama');
  const ids = golden.sequences[2]?.ids ?? [];
  const core = openCore(golden.modelDir);
  const [chunk, other] = core.step([rowOf(1, 0, ids.slice(0, 30), { sample: false }), rowOf(2, 0, [5])], {
    hidden: true,
    topK: 4,
  }).rows;
  expect(sampled(chunk).sampled).toBe(-1);
  expect(sampled(chunk).entropyNats).toBeNaN();
  expect(sampled(chunk).hidden).toBeUndefined();
  expect(sampled(other).sampled).toBeGreaterThanOrEqual(0);
  const onlyChunk = core.step([rowOf(1, 30, ids.slice(30, 60), { sample: false })], {}).rows;
  expect(sampled(onlyChunk[0]).sampled).toBe(-1);
  const end = sampled(core.step([rowOf(1, 60, ids.slice(60))], { logits: true }).rows[0]);
  const expected = golden.sequences[2]?.logits.subarray(-golden.vocabSize) ?? new Float32Array();
  end.logits?.forEach((value, id) => expect(value).toBeCloseTo(expected[id] ?? NaN, 4));
});
