import { describe, expect, it } from 'vitest';
import { buildChain, type Chain } from '../../../scheduling/throughput/build-chain.ts';
import { completeSpec, type ChainSpec } from '../../../scheduling/throughput/chain-spec.ts';
import { thresholdStarter } from '../../../scheduling/throughput/starter.ts';
import { stationary } from '../../../scheduling/throughput/stationary.ts';
import { throughputOf } from '../../../scheduling/throughput-model.ts';
import { cascade, pair } from './support/chain-systems.ts';

function chainOf(spec: ChainSpec, thresholds: readonly number[]): Chain {
  const complete = completeSpec(spec);
  return buildChain(complete, thresholdStarter(complete, thresholds));
}

/** L1 distance of pi P from pi: 0 for a stationary distribution. */
function imbalance({ numStates, edgeStart, edgeTo, edgeProbability }: Chain, pi: Float64Array): number {
  const after = new Float64Array(numStates);
  for (let s = 0; s < numStates; s += 1)
    for (let e = edgeStart[s] ?? 0; e < (edgeStart[s + 1] ?? 0); e += 1)
      after[edgeTo[e] ?? 0] = (after[edgeTo[e] ?? 0] ?? 0) + (pi[s] ?? 0) * (edgeProbability[e] ?? 0);
  return after.reduce((sum, value, s) => sum + Math.abs(value - (pi[s] ?? 0)), 0);
}

/** Direct elimination without subtractions (Grassmann, Taksar, Heyman): precise however slowly the chain mixes. */
function eliminated({ numStates: n, edgeStart, edgeTo, edgeProbability }: Chain): Float64Array {
  const p = new Float64Array(n * n);
  for (let s = 0; s < n; s += 1)
    for (let e = edgeStart[s] ?? 0; e < (edgeStart[s + 1] ?? 0); e += 1)
      p[s * n + (edgeTo[e] ?? 0)] = (p[s * n + (edgeTo[e] ?? 0)] ?? 0) + (edgeProbability[e] ?? 0);
  const at = (i: number, j: number): number => p[i * n + j] ?? 0;
  for (let k = n - 1; k > 0; k -= 1) {
    let out = 0;
    for (let j = 0; j < k; j += 1) out += at(k, j);
    for (let i = 0; i < k; i += 1) {
      if (at(i, k) === 0) continue;
      p[i * n + k] = at(i, k) / out;
      for (let j = 0; j < k; j += 1) p[i * n + j] = at(i, j) + at(i, k) * at(k, j);
    }
  }
  const pi = new Float64Array(n);
  pi[0] = 1;
  for (let k = 1; k < n; k += 1)
    for (let i = 0; i < k; i += 1) pi[k] = (pi[k] ?? 0) + (pi[i] ?? 0) * at(i, k);
  const total = pi.reduce((sum, value) => sum + value, 0);
  return pi.map((value) => value / total);
}

describe('the stationary distribution', () => {
  it('knows a phase that is left next to never: thousands of home steps within one of the large model', () => {
    // The second request leaves the home within the large step with probability 1 − 0.65^3333: 1 to any precision.
    for (const largeMs of [3000, 9840, 10_000, 20_000, 60_000]) {
      const { tokensPerSecond } = throughputOf({ ...pair(0.35, 2), stepMs: [6, largeMs] }, [1, 1]);
      expect((tokensPerSecond * largeMs) / 1000).toBeCloseTo(1 / 0.35, 9);
    }
  });

  it.each([0.05, 0.35, 0.9, 0.95, 0.99, 0.999, 0.999999])('equals direct elimination at p = %f', (p) => {
    for (const thresholds of [
      [1, 1],
      [1, 3],
      [2, 3],
      [1, 4],
    ]) {
      const chain = chainOf(pair(p, 4), thresholds);
      const [found, exact] = [stationary(chain), eliminated(chain)];
      const distance = found.reduce((sum, value, s) => sum + Math.abs(value - (exact[s] ?? 0)), 0);
      expect(distance, thresholds.join()).toBeLessThan(1e-6);
      const mean = (pi: Float64Array): number => pi.reduce((sum, x, s) => sum + x * (chain.ticks[s] ?? 0), 0);
      expect(mean(found) / mean(exact)).toBeCloseTo(1, 8);
    }
  });

  it.each([0.9, 0.95, 0.99, 1])('settles where nearly everybody leaves, p = %f', (p) => {
    for (const thresholds of [
      [1, 1],
      [1, 8],
      [4, 4],
      [5, 1],
    ]) {
      const chain = chainOf(pair(p, 8), thresholds);
      const pi = stationary(chain);
      expect(pi.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 12);
      expect(imbalance(chain, pi)).toBeLessThan(1e-11);
    }
  });

  it('settles for three models', () => {
    for (const p of [
      [0.2, 0.1, 0.1],
      [0.5, 0.5, 0],
      [0.5, 0.5, 1],
      [1, 0, 1],
      [0, 0, 0],
    ] as const) {
      const chain = chainOf(cascade(p, 4, { stepMs: [6, 12, 27] }), [1, 1, 1]);
      expect(imbalance(chain, stationary(chain))).toBeLessThan(1e-11);
    }
  });

  it.each([0.05, 0.35, 0.9, 0.99, 1])('gives the closed form of B = (1, N), p = %f', (p) => {
    const numRequests = 8;
    // Mean of the largest of N geometric numbers of steps at the small model.
    let steps = 0;
    for (let k = 0; k < 5000; k += 1) steps += 1 - (1 - (1 - p) ** k) ** numRequests;
    const wanted = (1000 * (numRequests / p)) / (6 * steps + 27.9);
    expect(throughputOf(pair(p, numRequests), [1, numRequests]).tokensPerSecond / wanted).toBeCloseTo(1, 8);
  });
});
