import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { medianInterval } from '../../../bench/heads/median-interval.ts';
import { measureHeads } from '../../../bench/heads/measure.ts';
import { writeRandomHead, type HeadKind } from '../../../bench/lib/random-head-file.ts';
import { checkHeads } from '../../../engine/onnx/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'tokenrail-bench-heads-'));
afterAll(() => rmSync(dir, { recursive: true }));

const SMALL = 'models/small';
const kinds: HeadKind[] = ['r2r', 'citer', 'co-llm'];
const headOf = (kind: HeadKind, seed = 1, name = kind): string =>
  writeRandomHead(join(dir, name), kind, { hiddenSize: 96, seed, widths: [16, 8, 8] });

describe('random networks', () => {
  it.each(kinds)('%s: are what the engine takes, the same for a seed', (kind) => {
    const file = headOf(kind);
    expect(() => checkHeads([{ file }], SMALL)).not.toThrow();
    const bytes = readFileSync(file);
    expect(readFileSync(headOf(kind, 1, `${kind}-again` as HeadKind))).toEqual(bytes);
    expect(readFileSync(headOf(kind, 2, `${kind}-other` as HeadKind))).not.toEqual(bytes);
  });

  it('have the published size where none is asked for', () => {
    const file = writeRandomHead(join(dir, 'published'), 'r2r', { hiddenSize: 1024, seed: 1 });
    // 54.7 million parameters for a hidden vector of 1024 numbers.
    expect(readFileSync(file).length / 4 / 1e6).toBeCloseTo(54.7, 1);
  });
});

it('the cost of a network is told beside the step that it is added to', () => {
  const heads = new Map(kinds.map((kind) => [kind, { file: headOf(kind) }]));
  const settings = { modelDir: SMALL, loadFormat: 'auto', quantization: 'none' } as const;
  const costs = measureHeads({ ...settings, rows: 2, contextTokens: 4, numThreads: 1, rounds: 3 }, heads);
  expect(costs.map(({ name }) => name)).toEqual(kinds);
  for (const { stepMs, headMs, sharePercent, lowPercent, highPercent } of costs) {
    expect(headMs).toBeGreaterThan(0);
    expect(stepMs).toBeGreaterThan(0);
    expect(lowPercent).toBeLessThanOrEqual(sharePercent);
    expect(sharePercent).toBeLessThanOrEqual(highPercent);
  }
});

describe('the interval of a median', () => {
  it('of 100 values are those of rank 41 and 60, whatever their order', () => {
    const values = Array.from({ length: 100 }, (_, i) => i + 1);
    fc.assert(
      fc.property(fc.shuffledSubarray(values, { minLength: 100 }), (shuffled) => {
        expect(medianInterval(shuffled)).toEqual({ median: 50.5, low: 41, high: 60 });
      }),
      { numRuns: 10 },
    );
  });

  it('of few values are the smallest and the largest', () => {
    expect(medianInterval([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 });
    expect(medianInterval([7])).toEqual({ median: 7, low: 7, high: 7 });
  });
});
