import { describe, expect, it } from 'vitest';
import { expectedTensors, EMBEDDING, HEAD } from '../../../engine/onnx/checkpoint/expected-tensors.ts';
import { readModelConfig } from '../../../engine/onnx/checkpoint/read-config.ts';
import { dequantizeInt4, quantizeInt4 } from '../../../engine/onnx/weights/int4.ts';
import { asFloat32, copyOf, editJson, editTensors } from './helpers/checkpoints.ts';
import { openCore, rowOf, sampled } from './helpers/core.ts';
import { loadGolden } from './helpers/golden.ts';

/** The checkpoint with every linear weight replaced by what its int4 codes stand for. */
function dequantizedCopy(name: string): string {
  const directory = copyOf(name);
  const config = readModelConfig(directory);
  const expected = expectedTensors(config);
  editTensors(directory, (tensors) => {
    const embedding = tensors.get(EMBEDDING);
    if (config.tieWordEmbeddings && embedding !== undefined) {
      // The embedding itself stays as it is; only the head made from it is quantized.
      tensors.set(HEAD, asFloat32(embedding));
      expected.set(HEAD, embedding.shape);
    }
    for (const [tensor, shape] of expected) {
      const stored = tensors.get(tensor);
      const [rows = 0, columns] = shape;
      if (stored === undefined || columns === undefined || tensor === EMBEDDING) continue;
      tensors.set(
        tensor,
        asFloat32(stored, (values) =>
          values.set(dequantizeInt4(quantizeInt4(values, rows, columns), rows, columns)),
        ),
      );
    }
  });
  if (config.tieWordEmbeddings) editJson(`${directory}/config.json`, { tie_word_embeddings: false });
  return directory;
}

const spread = (logits: Float32Array): number => {
  const mean = logits.reduce((sum, value) => sum + value, 0) / logits.length;
  return Math.sqrt(logits.reduce((sum, value) => sum + (value - mean) ** 2, 0) / logits.length);
};

describe.each(['llama', 'llama-tied', 'qwen3'])('%s in int4', (name) => {
  it('computes what float32 computes from the dequantized weights, up to the rounding of activations', () => {
    const int4 = openCore(copyOf(name), { quantization: 'int4' });
    const float = openCore(dequantizedCopy(name));
    const rows = loadGolden(name).sequences.map(({ ids }, i) => rowOf(i, 0, ids));
    const [a, b] = [int4, float].map((core) =>
      core.step(rows, { logits: true }).rows.map((row) => sampled(row).logits ?? new Float32Array()),
    );
    const [plain] = [
      openCore(copyOf(name))
        .step(rows, { logits: true })
        .rows.map((row) => sampled(row).logits ?? new Float32Array()),
    ];
    for (const [i, logits] of (a ?? []).entries()) {
      const error = (other: Float32Array | undefined) =>
        Math.sqrt(
          logits.reduce((sum, value, id) => sum + (value - (other?.[id] ?? NaN)) ** 2, 0) / logits.length,
        );
      // Rounding activations to int8 is a small error; that of the weights is not.
      expect(error(b?.[i])).toBeLessThan(0.05 * spread(logits));
      expect(error(plain[i])).toBeGreaterThan(2 * error(b?.[i]));
    }
  });
});

it('the trained large model chooses the same token at nearly every position', () => {
  const golden = loadGolden('embedded-large');
  const int4 = openCore(golden.modelDir, { quantization: 'int4' });
  let same = 0;
  let positions = 0;
  for (const { promptIds, ids } of golden.greedy) {
    const text = [...promptIds, ...ids];
    for (let end = promptIds.length; end < text.length; end += 1) {
      const past = end === promptIds.length ? 0 : end - 1;
      const row = sampled(int4.step([rowOf(1, past, text.slice(past, end))], {}).rows[0]);
      same += row.sampled === text[end] ? 1 : 0;
      positions += 1;
    }
  }
  expect(positions).toBeGreaterThan(150);
  expect(same / positions).toBeGreaterThanOrEqual(0.95);
});
