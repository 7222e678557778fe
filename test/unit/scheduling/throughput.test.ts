import { describe, expect, it } from 'vitest';
import { arrivalLaw } from '../../../scheduling/throughput/arrivals.ts';
import { quantumFor } from '../../../scheduling/throughput/quantum.ts';
import {
  boundThroughput,
  lockstepThroughput,
  throughputOf,
  type ChainSpec,
} from '../../../scheduling/throughput-model.ts';
import { cascade, pair } from './support/chain-systems.ts';

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
    [32, 0.05, [1, 5], 3911.74],
    [32, 0.05, [1, 1], 3889.03],
    [32, 0.2, [5, 11], 2157.27],
    [32, 0.2, [1, 1], 2135.87],
    [32, 0.35, [3, 20], 1558.94],
    [32, 0.35, [1, 1], 1462.6],
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
    const spec = cascade([0.2, 0.1, 0.1], 4);
    expectNear(throughputOf(spec, [1, 1, 1]).tokensPerSecond, 281.74);
  });

  it('agrees with the closed forms', () => {
    for (const p of [0.05, 0.35, 0.5]) {
      expectNear(throughputOf(pair(p, 1), [1, 1]).tokensPerSecond, 1000 / (6 + p * 27.9));
      const { tokensPerSecond } = throughputOf(pair(p, 6), [1, 1]);
      expect(tokensPerSecond).toBeLessThanOrEqual(boundThroughput(pair(p, 6)) * (1 + 1e-9));
    }
  });

  it.each([
    [1, 0.35, 63.43],
    [2, 0.2, 124.66],
    [8, 0.05, 519.8],
    [8, 0.35, 242.34],
    [32, 0.05, 1122.99],
    [32, 0.35, 943.95],
  ])('everybody waits for everybody: N = %i, p = %f', (concurrency, p, wanted) => {
    expectNear(lockstepThroughput(pair(p, concurrency)), wanted);
    expectNear(lockstepThroughput(pair(p, concurrency, { overlapFactor: 0.5 })), wanted);
  });

  it('everybody waits for everybody: three models have their turns in order', () => {
    // One request alone never waits: its rounds are what it does.
    const alone = cascade([0.2, 0.1, 0.1], 1);
    expectNear(lockstepThroughput(alone), boundThroughput(alone));
    expectNear(lockstepThroughput(alone), throughputOf(alone, [1, 1, 1]).tokensPerSecond);
    // Everybody visits the second model, nobody the third.
    expectNear(lockstepThroughput(cascade([1, 0, 0], 5)), (1000 * 5) / (6 + 12.3));
    // Step times of the rows that take part.
    const stepMs = [
      [1, 2],
      [10, 30],
    ];
    const p = 0.5;
    const roundMs = 2 + 2 * p * (1 - p) * 10 + p * p * 30;
    expectNear(lockstepThroughput(pair(p, 2, { stepMs })), 2000 / roundMs);
  });

  it('step times by rows make the larger steps longer', () => {
    const flat = throughputOf(pair(0.3, 4), [1, 1]).tokensPerSecond;
    const same = throughputOf(pair(0.3, 4, { stepMs: [[6], [27.9, 27.9]] }), [1, 1]).tokensPerSecond;
    expect(same).toBeCloseTo(flat, 9);
    const steep = throughputOf(pair(0, 4, { stepMs: [[6, 6, 6, 12], 27.9] }), [1, 1]).tokensPerSecond;
    expectNear(steep, 4000 / 12);
  });

  it('picks ticks that fit the step times', () => {
    expect(quantumFor([6, 27.9])).toBe(0.1);
    expect(
      quantumFor([
        [30, 60],
        [139.5, 300],
      ]),
    ).toBe(1);
    expect(quantumFor([0.2, 0.5])).toBe(0.002);
  });

  it('refuses thresholds under which nobody could start, and specifications that mean nothing', () => {
    expect(() => throughputOf(pair(0.35, 4), [3, 3])).toThrow(/thresholds 3, 3: nobody could start/);
    for (const thresholds of [[0, 1], [1.5, 1], [1], [1, 1, 1]])
      expect(() => throughputOf(pair(0.35, 4), thresholds)).toThrow(`thresholds ${thresholds.join(', ')}`);
    const wrong: Partial<ChainSpec>[] = [
      {
        routing: [
          [0.5, 0.4],
          [1, 0],
        ],
      },
      { routing: [[1]] },
      { stepMs: [6, 0] },
      { stepMs: [6, []] },
      { stepMs: [6, [3, -1]] },
      { maxNumSeqs: [4] },
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
