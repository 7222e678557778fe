import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EMBEDDING, expectedTensors, HEAD } from '../../../engine/onnx/checkpoint/expected-tensors.ts';
import { readModelConfig } from '../../../engine/onnx/checkpoint/read-config.ts';
import { asFloat32, copyOf, editJson, editTensors } from './helpers/checkpoints.ts';
import { openCore, rowOf, sampled } from './helpers/core.ts';
import { loadGolden } from './helpers/golden.ts';
import { referenceLogits } from './helpers/reference-model.ts';

const IDS = [5, 17, 3, 60, 41, 8, 77];

/** A copy whose config is changed; tensors that it newly asks for are made up. */
function variant(name: string, changes: Record<string, unknown>): string {
  const directory = copyOf(name);
  editJson(join(directory, 'config.json'), changes);
  editTensors(directory, (tensors) => {
    for (const [tensor, shape] of expectedTensors(readModelConfig(directory))) {
      if (tensors.has(tensor)) continue;
      const size = shape.reduce((product, length) => product * length, 1);
      const values = Float32Array.from({ length: size }, (_, i) => Math.sin(i * 1.7 + tensor.length));
      tensors.set(tensor, { dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) });
    }
  });
  return directory;
}

function worstDifference(directory: string, ids: readonly number[]): number {
  const core = openCore(directory);
  const expected = referenceLogits(directory, ids);
  let worst = 0;
  for (const [past, id] of ids.entries()) {
    const { logits } = sampled(core.step([rowOf(1, past, [id])], { logits: true }).rows[0]);
    expect(logits?.length).toBe(expected[past]?.length);
    logits?.forEach((value, i) => (worst = Math.max(worst, Math.abs(value - (expected[past]?.[i] ?? NaN)))));
  }
  return worst;
}

it.each(['llama', 'llama-tied', 'qwen3'])('the plain reference agrees with transformers on %s', (name) => {
  const golden = loadGolden(name);
  const sequence = golden.sequences[1];
  const logits = referenceLogits(golden.modelDir, sequence?.ids ?? []).flat();
  expect(logits.length).toBe(sequence?.logits.length);
  logits.forEach((value, i) => expect(value).toBeCloseTo(sequence?.logits[i] ?? NaN, 3));
});

describe('checkpoints that no golden covers agree with the plain reference', () => {
  it.each([
    ['biases on all four attention projections', 'llama', { attention_bias: true }],
    ['biases in the MLP', 'llama', { mlp_bias: true }],
    ['biases everywhere', 'llama-tied', { attention_bias: true, mlp_bias: true }],
    ['biases beside q/k norms', 'qwen3', { attention_bias: true }],
    ['another theta in the old spelling', 'llama', { rope_theta: 300, rope_scaling: null }],
    [
      'one key/value head per query head',
      'llama-tied',
      { num_key_value_heads: 1, num_attention_heads: 4, rms_norm_eps: 1e-3 },
    ],
  ])('%s', (_, name, changes) => {
    expect(worstDifference(variant(name, changes), IDS)).toBeLessThanOrEqual(1e-4);
  });

  it('made-up biases matter', () => {
    const plain = referenceLogits(copyOf('llama'), IDS).flat();
    const biased = referenceLogits(variant('llama', { attention_bias: true, mlp_bias: true }), IDS).flat();
    expect(Math.max(...plain.map((value, i) => Math.abs(value - (biased[i] ?? NaN))))).toBeGreaterThan(0.1);
  });

  it('a head that is declared tied but stored and different', () => {
    const directory = copyOf('llama-tied');
    editTensors(directory, (tensors) => {
      const embedding = tensors.get(EMBEDDING);
      if (embedding === undefined) throw new Error('no embedding');
      tensors.set(
        HEAD,
        asFloat32(embedding, (values) => values.reverse()),
      );
    });
    const core = openCore(directory);
    const { logits } = sampled(core.step([rowOf(1, 0, IDS)], { logits: true }).rows[0]);
    editJson(join(directory, 'config.json'), { tie_word_embeddings: false });
    const expected = referenceLogits(directory, IDS).at(-1);
    logits?.forEach((value, i) => expect(value).toBeCloseTo(expected?.[i] ?? NaN, 3));
  });
});
