import { describe, expect, it } from 'vitest';
import { arrivalLaw } from '../../../scheduling/throughput/arrivals.ts';
import { boundThroughput, lockstepThroughput } from '../../../scheduling/throughput/bounds.ts';
import type { ChainSpec } from '../../../scheduling/throughput/chain-spec.ts';
import { throughputOf } from '../../../scheduling/throughput/throughput.ts';

/** One token at the small model, or at the large one and back. */
const pair = (p: number, concurrency: number, change: Partial<ChainSpec> = {}): ChainSpec => ({
  routing: [
    [1 - p, p],
    [1, 0],
  ],
  commits: [
    [1, 0],
    [1, 0],
  ],
  stepMs: [6, 27.9],
  concurrency,
  ...change,
});

/** Agrees within 0.05 %. */
const expectNear = (actual: number, wanted: number): void => {
  expect(Math.abs(actual / wanted - 1)).toBeLessThan(0.0005);
};

describe('the exact throughput of threshold policies', () => {
  it.each([
    [1, 0.35, [1, 1], 63.43],
    [2, 0.2, [1, 1], 150.07],
    [2, 0.35, [1, 2], 110.32],
    [2, 0.35, [1, 1], 98.96],
    [8, 0.05, [1, 1], 988.66],
    [8, 0.2, [1, 3], 549.23],
    [8, 0.2, [1, 1], 536.9],
    [8, 0.35, [1, 5], 399.05],
    [8, 0.35, [1, 1], 369.21],
    [32, 0.2, [5, 11], 2157.27],
    [32, 0.35, [3, 20], 1558.94],
  ] as const)('N = %i, p = %f, thresholds %j: %f tokens/s', (concurrency, p, thresholds, wanted) => {
    expectNear(throughputOf(pair(p, concurrency), thresholds).tokensPerSecond, wanted);
  });

  it('slows models that share a device', () => {
    const shared = (overlapFactor: number): ChainSpec => pair(0.35, 8, { overlapFactor });
    expect(throughputOf(shared(0.66), [3, 6]).tokensPerSecond).toBeCloseTo(380.6, 0);
    expect(throughputOf(shared(0.66), [1, 1]).tokensPerSecond).toBeCloseTo(256, 0);
    expect(throughputOf(shared(0.5), [1, 1]).tokensPerSecond).toBeCloseTo(199, 0);
  });

  it('does not depend on contention where the models take turns', () => {
    const alone = throughputOf(pair(0.35, 8), [3, 6]).tokensPerSecond;
    expectNear(throughputOf(pair(0.35, 8, { overlapFactor: 0.4 }), [3, 6]).tokensPerSecond, alone);
  });

  it('holds for three models', () => {
    const [p1, p2, q] = [0.2, 0.1, 0.1];
    const spec: ChainSpec = {
      routing: [
        [1 - p1 - p2, p1, p2],
        [1 - q, 0, q],
        [1, 0, 0],
      ],
      commits: [
        [1, 0, 0],
        [1, 0, 0],
        [1, 0, 0],
      ],
      stepMs: [6, 12.3, 27.9],
      concurrency: 4,
    };
    expectNear(throughputOf(spec, [1, 1, 1]).tokensPerSecond, 281.74);
  });

  it('agrees with the closed forms', () => {
    for (const p of [0.05, 0.35, 0.5]) {
      expectNear(throughputOf(pair(p, 1), [1, 1]).tokensPerSecond, 1000 / (6 + p * 27.9));
      const { tokensPerSecond } = throughputOf(pair(p, 6), [1, 1]);
      expect(tokensPerSecond).toBeLessThanOrEqual(boundThroughput(pair(p, 6)) * (1 + 1e-9));
    }
    expectNear(lockstepThroughput(pair(0.35, 8)), 242.34);
    expectNear(lockstepThroughput(pair(0.05, 32)), 1122.99);
  });

  it('refuses thresholds under which nobody could start, and specifications that mean nothing', () => {
    expect(() => throughputOf(pair(0.35, 4), [3, 3])).toThrow(/nobody could start/);
    const wrong: Partial<ChainSpec>[] = [
      {
        routing: [
          [0.5, 0.4],
          [1, 0],
        ],
      },
      { routing: [[1]] },
      { stepMs: [6, 0] },
      { concurrency: 0 },
      { quantumMs: 0 },
      { overlapFactor: 1.5 },
    ];
    for (const change of wrong) {
      expect(() => throughputOf(pair(0.35, 4, change), [1, 1])).toThrow(
        expect.objectContaining({ code: 'config_invalid' }),
      );
    }
  });
});

describe('the law of arrivals', () => {
  it('is a multinomial: it sums to 1 and has the right means', () => {
    const row = [0.5, 0.3, 0, 0.2];
    const { numOutcomes, counts, probability } = arrivalLaw(row, 7);
    expect(probability.reduce((sum, chance) => sum + chance, 0)).toBeCloseTo(1, 12);
    row.forEach((p, model) => {
      const mean = probability.reduce((sum, chance, o) => sum + chance * (counts[4 * o + model] ?? 0), 0);
      expect(mean).toBeCloseTo(7 * p, 10);
    });
    for (let o = 0; o < numOutcomes; o += 1)
      expect(counts.slice(4 * o, 4 * o + 4).reduce((sum, n) => sum + n, 0)).toBe(7);
  });
});
