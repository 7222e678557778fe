import { describe, expect, it } from 'vitest';
import { bestThresholds, throughputOf, type ChainSpec } from '../../../scheduling/throughput-model.ts';
import { cascade, numbers, pair } from './support/chain-systems.ts';

/** The best of all feasible pairs. */
function bruteForce(spec: ChainSpec): number {
  let best = 0;
  for (let first = 1; first <= spec.concurrency; first += 1)
    for (let second = 1; first + second <= spec.concurrency + 1; second += 1)
      best = Math.max(best, throughputOf(spec, [first, second]).tokensPerSecond);
  return best;
}

describe('the best thresholds', () => {
  it.each([
    [1, 0.35, [1, 1], 63.43],
    [2, 0.2, [1, 1], 150.07],
    [2, 0.35, [1, 2], 110.32],
    [8, 0.05, [1, 1], 988.66],
    [8, 0.2, [1, 3], 549.23],
    [8, 0.35, [1, 5], 399.05],
    [32, 0.05, undefined, 3911.74],
    [32, 0.2, [5, 11], 2157.27],
    [32, 0.35, [3, 20], 1558.94],
  ] as const)('N = %i, p = %f: %j', (concurrency, p, thresholds, tokensPerSecond) => {
    const found = bestThresholds(pair(p, concurrency));
    if (thresholds) expect(found.thresholds).toEqual(thresholds);
    expect(Math.abs(found.tokensPerSecond / tokensPerSecond - 1)).toBeLessThan(1e-4);
  });

  it('let models on a shared device take turns', () => {
    const found = bestThresholds(pair(0.35, 8, { overlapFactor: 0.66 }));
    expect(found.thresholds).toEqual([3, 6]);
    expect(found.tokensPerSecond).toBeCloseTo(380.6, 1);
  });

  it('are known for three models', () => {
    const found = bestThresholds(cascade([0.2, 0.1, 0.1], 4));
    expect(found.thresholds).toEqual([1, 1, 1]);
    expect(found.tokensPerSecond).toBeCloseTo(281.74, 1);
  });

  it('are within 1e-4 of the best of all pairs, for any p, step times and contention', () => {
    const next = numbers(20);
    for (let round = 0; round < 80; round += 1) {
      const concurrency = round < 2 ? 16 : 1 + Math.floor(next() * 8);
      const p = next() < 0.15 ? 0.98 + 0.02 * next() : next();
      const shortMs = Math.round((1 + 9 * next()) * 10) / 10;
      // Often a multiple: ties and phases.
      const ratio = next() < 0.3 ? 1 + Math.floor(6 * next()) : 0.5 + 6 * next();
      const stepMs = [shortMs, Math.round(shortMs * ratio * 10) / 10];
      const overlapFactor = next() < 0.5 ? 1 : 0.5 + 0.5 * next();
      const spec = pair(p, concurrency, { stepMs, overlapFactor, quantumMs: 0.2 });
      const found = bestThresholds(spec).tokensPerSecond;
      const label = JSON.stringify({ concurrency, p, stepMs, overlapFactor });
      expect(found, label).toBeGreaterThan(bruteForce(spec) * (1 - 1e-4));
    }
  });

  it('of step times that grow with the rows use the times of their rows', () => {
    const stepMs = [
      Array.from({ length: 6 }, (_, rows) => 5 + rows),
      Array.from({ length: 6 }, (_, rows) => 10 + 6 * rows),
    ];
    const spec = pair(0.3, 6, { stepMs });
    expect(bestThresholds(spec).tokensPerSecond).toBeGreaterThan(bruteForce(spec) * (1 - 1e-4));
  });

  it('name the limit where every chain is too large', () => {
    const spec = pair(0.3, 40, { stepMs: [997.1, 5003.3], quantumMs: 0.0001 });
    expect(() => throughputOf(spec, [1, 1], { maxStates: 50_000 })).toThrow(/more than 50000 states/);
  });
});
