import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import { BatchMeans } from '../../../simulation/batch-means.ts';
import { linearFit } from '../../../simulation/linear-fit.ts';
import { rowsPerToken } from '../../../simulation/rows-per-token.ts';

const draw = (seed: number, position: number): number =>
  uniform({ seed, position, model: 0, purpose: 'simulation' });

/** Tokens that take 10 ms, and 40 ms more with probability ¼: T = 50 tokens/s. */
function run(seed: number, numTokens = 4000) {
  let nowMs = 0;
  let numSlow = 0;
  const meter = new BatchMeans({ totalTokens: numTokens, warmUpTokens: 200, numBatches: 20 }, () => [
    numSlow,
  ]);
  for (let i = 0; i < numTokens; i += 1) {
    const isSlow = draw(seed, i) < 0.25;
    numSlow += isSlow ? 1 : 0;
    // What the count does not explain: a little noise of its own.
    nowMs += 10 + (isSlow ? 40 : 0) + 4 * (draw(seed + 1e6, i) - 0.5);
    meter.add(1, nowMs);
  }
  expect(meter.isOver).toBe(true);
  return { plain: meter.plain(), controlled: meter.controlled([0.25]) };
}

describe('BatchMeans', () => {
  const runs = Array.from({ length: 200 }, (_, seed) => run(seed + 1));
  const coverage = (kind: 'plain' | 'controlled'): number =>
    runs.filter((one) => Math.abs(one[kind].tokensPerSecond - 50) <= one[kind].ci95).length / runs.length;

  it('covers the true throughput in about 95 of 100 runs, with control variates as well', () => {
    for (const kind of ['plain', 'controlled'] as const) {
      expect(coverage(kind)).toBeGreaterThan(0.9);
      expect(coverage(kind)).toBeLessThan(0.99);
    }
  });

  it('is much narrower where the known means are used', () => {
    const mean = (kind: 'plain' | 'controlled'): number =>
      runs.reduce((sum, one) => sum + one[kind].ci95, 0) / runs.length;
    expect(mean('controlled')).toBeLessThan(mean('plain') / 5);
  });

  it('does not believe counts that say nothing: none at all, or a hundred times fewer than batches', () => {
    for (const [perToken, slowEvery] of [
      [0, Infinity],
      [1e-17, Infinity],
      [1e-5, Infinity],
      [1e-3, 3000],
    ] as const) {
      let nowMs = 0;
      let numSlow = 0;
      const options = { totalTokens: 4000, warmUpTokens: 200, numBatches: 40 };
      const meter = new BatchMeans(options, () => [numSlow]);
      // Whole steps of 8 tokens do not divide a batch: its length jumps, and with it what seems to be expected.
      for (let tokens = 0; tokens < 4000; tokens += 8) {
        numSlow += tokens > 0 && tokens % slowEvery === 0 ? 1 : 0;
        meter.add(8, (nowMs += 6));
      }
      const [plain, controlled] = [meter.plain(), meter.controlled([perToken])];
      expect(controlled.ci95).toBeLessThanOrEqual(plain.ci95);
      expect(Math.abs(controlled.tokensPerSecond / (8000 / 6) - 1)).toBeLessThan(0.02);
    }
  });

  it('has no answer before there are batches', () => {
    expect(
      new BatchMeans({ totalTokens: 100, warmUpTokens: 5, numBatches: 20 }).plain().tokensPerSecond,
    ).toBeNaN();
  });
});

describe('linearFit', () => {
  it('finds a plane, whatever its slopes', () => {
    const real = fc.double({ min: -5, max: 5, noNaN: true });
    fc.assert(
      fc.property(real, real, real, fc.integer(), (intercept, a, b, seed) => {
        const xs = [0, 1].map((k) => Array.from({ length: 12 }, (_, i) => draw(seed, 100 * k + i)));
        const y = xs[0]?.map((x, i) => intercept + a * x + b * (xs[1]?.[i] ?? 0)) ?? [];
        const fit = linearFit(y, xs);
        expect(fit.intercept).toBeCloseTo(intercept, 6);
        expect(fit.slopes[0]).toBeCloseTo(a, 6);
        expect(fit.slopes[1]).toBeCloseTo(b, 6);
        expect(fit.squares).toBeCloseTo(0, 9);
      }),
    );
  });

  it('leaves out columns that say nothing of their own', () => {
    const x = [1, 2, 3, 4, 6];
    const fit = linearFit([2, 4, 6, 8, 12], [x, x.map((value) => 3 * value), x.map(() => 7)]);
    expect(fit.slopes).toEqual([2, 0, 0]);
    expect(fit.intercept).toBeCloseTo(0, 9);
  });
});

describe('rowsPerToken', () => {
  it('follows from the routing', () => {
    const two = { routing: [[0.65, 0.35], [1, 0]], commits: [[1, 0], [1, 0]] }; // prettier-ignore
    expect(rowsPerToken(two).map((rows) => rows.toFixed(9))).toEqual(['1.000000000', '0.350000000']);
    const three = {
      routing: [[0.7, 0.2, 0.1], [0.9, 0, 0.1], [1, 0, 0]], // prettier-ignore
      commits: [[1, 0, 0], [1, 0, 0], [1, 0, 0]], // prettier-ignore
    };
    expect(rowsPerToken(three).map((rows) => rows.toFixed(9))).toEqual([
      '1.000000000',
      '0.200000000',
      '0.120000000',
    ]);
  });
});
