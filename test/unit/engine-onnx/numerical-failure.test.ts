import { expect, it } from 'vitest';
import { EMBEDDING } from '../../../engine/onnx/checkpoint/expected-tensors.ts';
import { copyOf, editValues } from './helpers/checkpoints.ts';
import { openCore, rowOf, sampled } from './helpers/core.ts';

const BAD_TOKEN = 11;

/** A checkpoint whose input embedding of one token is bad: rows with that token go wrong, others do not. */
function poisoned(value: number): string {
  const directory = copyOf('llama');
  editValues(directory, EMBEDDING, (values) => values.fill(value, BAD_TOKEN * 48, BAD_TOKEN * 48 + 5));
  return directory;
}

it.each([NaN, Infinity, -Infinity])(
  'a row with %f fails alone, whatever its place and the other rows',
  (value) => {
    for (const quantization of ['none', 'int4'] as const) {
      const core = openCore(poisoned(value), { quantization });
      const clean = openCore(copyOf('llama'), { quantization });
      const rows = [rowOf(1, 0, [3, 4]), rowOf(2, 0, [5, BAD_TOKEN, 6]), rowOf(3, 0, [7])];
      const results = core.step(rows, { logits: true }).rows;
      expect(results.map(({ seq, ok }) => ({ seq, ok }))).toEqual([
        { seq: 1, ok: true },
        { seq: 2, ok: false },
        { seq: 3, ok: true },
      ]);
      expect(results[1]).toMatchObject({ code: 'numerical_failure' });
      const expected = clean.step([rowOf(1, 0, [3, 4]), rowOf(2, 0, [5]), rowOf(3, 0, [7])], {
        logits: true,
      }).rows;
      expect(sampled(results[0]).logits).toEqual(sampled(expected[0]).logits);
      expect(sampled(results[2]).logits).toEqual(sampled(expected[2]).logits);
    }
  },
);

it('the buffers of a failed row are clean for the next sequence', () => {
  const core = openCore(poisoned(NaN));
  const alone = sampled(core.step([rowOf(1, 0, [3, 4, 5])], { logits: true }).rows[0]).logits;
  core.release([1]);
  expect(core.step([rowOf(2, 0, [BAD_TOKEN, 1, 2, 3])], {}).rows[0]?.ok).toBe(false);
  core.release([2]);
  expect(sampled(core.step([rowOf(3, 0, [3, 4, 5])], { logits: true }).rows[0]).logits).toEqual(alone);
});

it('a rollback before the bad token heals the row', () => {
  const core = openCore(poisoned(NaN));
  expect(core.step([rowOf(1, 0, [3, 4])], {}).rows[0]?.ok).toBe(true);
  expect(core.step([rowOf(1, 2, [BAD_TOKEN])], {}).rows[0]?.ok).toBe(false);
  const healed = sampled(core.step([rowOf(1, 2, [5])], { logits: true }).rows[0]).logits;
  const fresh = sampled(core.step([rowOf(2, 0, [3, 4, 5])], { logits: true }).rows[0]).logits;
  healed?.forEach((value, id) => expect(value).toBeCloseTo(fresh?.[id] ?? NaN, 4));
});

it('a chunk of a prompt fails as soon as it is fed, though nothing is sampled from it', () => {
  const core = openCore(poisoned(NaN));
  const rows = [rowOf(1, 0, [3, 4], { sample: false }), rowOf(2, 0, [BAD_TOKEN, 4], { sample: false })];
  expect(core.step(rows, {}).rows.map(({ ok }) => ok)).toEqual([true, false]);
});
