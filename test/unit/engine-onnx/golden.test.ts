import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LoadedModel } from '../../../engine/onnx/load-model.ts';
import { EMBEDDED, loadGolden, TINY } from './helpers/golden.ts';
import { GoldenRun, loadHere, unload, type Part } from './helpers/golden-run.ts';

const TOLERANCE = 1e-4;

describe.each([...TINY, ...EMBEDDED])('golden logits of %s in float32', (name) => {
  const golden = loadGolden(name);
  const all = golden.sequences.map((_, sequence) => sequence);
  const longest = all.reduce(
    (best, i) =>
      (golden.sequences[i]?.ids.length ?? 0) > (golden.sequences[best]?.ids.length ?? 0) ? i : best,
    0,
  );
  let model: LoadedModel;

  beforeAll(() => {
    model = loadHere(golden.modelDir);
  });
  afterAll(() => unload(model));

  const expectEqual = (run: GoldenRun, positions: number): void => {
    expect(run.positions).toBe(positions);
    expect(run.worstLogit).toBeLessThanOrEqual(TOLERANCE);
    expect(run.worstHidden).toBeLessThanOrEqual(TOLERANCE);
  };
  const total = all.reduce((sum, i) => sum + (golden.sequences[i]?.ids.length ?? 0), 0);

  it.each([1, 2, 4, 8, 16])('each sequence at once, on the graph of %i rows', (minRows) => {
    const run = new GoldenRun(model, golden);
    for (const sequence of all) run.feed([{ sequence, past: 0, count: run.length(sequence) }], minRows);
    expectEqual(run, total);
  });

  it.each([1, 2, 4, 8, 16])('token by token, on the graph of %i rows', (minRows) => {
    const run = new GoldenRun(model, golden);
    for (let past = 0; past < run.length(longest); past += 1)
      run.feed([{ sequence: longest, past, count: 1 }], minRows);
    expectEqual(run, run.length(longest));
  });

  it('all sequences whole in one step', () => {
    const run = new GoldenRun(model, golden);
    run.feed(all.map((sequence) => ({ sequence, past: 0, count: run.length(sequence) })));
    expectEqual(run, total);
  });

  it.each(['in-place', 'copied'] as const)('ragged chunks side by side, %s', (kvPath) => {
    const run = new GoldenRun(model, golden, kvPath);
    const past = all.map(() => 0);
    for (let step = 0; past.some((length, i) => length < run.length(i)); step += 1) {
      const parts = all
        .map((sequence) => {
          const begin = past[sequence] ?? 0;
          return {
            sequence,
            past: begin,
            count: Math.min(1 + ((step + 3 * sequence) % 5), run.length(sequence) - begin),
          };
        })
        .filter((part) => part.count > 0);
      run.feed(step % 2 === 0 ? parts : parts.reverse());
      for (const part of parts) past[part.sequence] = part.past + part.count;
    }
    expectEqual(run, total);
  });

  it('after rollbacks over other tokens', () => {
    const run = new GoldenRun(model, golden);
    run.feed([{ sequence: longest, past: 0, count: 9 }]);
    run.feedWrong(longest, 9, [3, 1, 4, 1, 5]);
    run.feed([{ sequence: longest, past: 9, count: 3 }]);
    run.feedWrong(longest, 2, [7, 7]);
    run.feed([{ sequence: longest, past: 2, count: 1 }]);
    run.feed([{ sequence: longest, past: 3, count: run.length(longest) - 3 }]);
    run.feedWrong(longest, 0, [5]);
    run.feed([{ sequence: longest, past: 0, count: 4 }]);
    expectEqual(run, 9 + 3 + 1 + (run.length(longest) - 3) + 4);
  });

  it('in any schedule: ragged, with leaves, returns, rollbacks and changing places', () => {
    const part = fc.record({
      sequence: fc.nat(all.length - 1),
      back: fc.nat(3),
      count: fc.integer({ min: 1, max: 12 }),
    });
    const step = fc.record({
      parts: fc.uniqueArray(part, { minLength: 1, maxLength: all.length, selector: (p) => p.sequence }),
      minRows: fc.constantFrom(1, 2, 4, 8, 16),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 3, maxLength: 12 }), (steps) => {
        const run = new GoldenRun(model, golden);
        const lengths = all.map(() => 0);
        for (const { parts, minRows } of steps) {
          const fed: Part[] = parts.map(({ sequence, back, count }) => {
            const past = Math.min(Math.max(0, (lengths[sequence] ?? 0) - back), run.length(sequence) - 1);
            return { sequence, past, count: Math.min(count, run.length(sequence) - past) };
          });
          run.feed(fed, minRows);
          for (const { sequence, past, count } of fed) lengths[sequence] = past + count;
        }
        return run.worstLogit <= TOLERANCE && run.worstHidden <= TOLERANCE;
      }),
      { numRuns: 25 },
    );
  });
});
