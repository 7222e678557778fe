import { describe, expect, it } from 'vitest';
import { RUN_LENGTH_LAWS, type RoutingLaw } from '../../engine/simulated/index.ts';
import { createPolicy, type PolicySpec } from '../../scheduling/index.ts';
import { simulate, type SimulationOptions } from '../../simulation/index.ts';
import { SequentialOracle } from '../../simulation/simulated-answer.ts';

const matrices = { routing: [[0.65, 0.35], [1, 0]], commits: [[1, 0], [1, 0]] }; // prettier-ignore

const options = (
  change: Partial<SimulationOptions> = {},
  policy: PolicySpec = { kind: 'eager' },
): SimulationOptions => ({
  models: [6, 27.9].map((baseMs) => ({ stepTime: { baseMs }, policy: () => createPolicy(policy) })),
  matrices,
  concurrency: 6,
  totalTokens: 1500,
  tokensPerRequest: 64,
  seed: 5,
  ...change,
});

describe('simulate', () => {
  it('gives the same result for the same seed, and another one for another', async () => {
    const first = await simulate(options());
    expect(await simulate(options())).toEqual(first);
    expect((await simulate(options({ seed: 6 }))).virtualSeconds).not.toBe(first.virtualSeconds);
    expect(first.mismatches).toBe(0);
    expect(first.tokens).toBeGreaterThanOrEqual(1500);
  });

  it('writes what the sequential loop writes, whatever the network and the number of replicas', async () => {
    const [small, large] = options().models;
    if (!small || !large) throw new Error('two models');
    const run = await simulate(
      options({
        models: [
          { ...small, replicas: 2 },
          { ...large, replicas: 2, stepTime: { baseMs: 20, perRowMs: 0.5, perTokenMs: 0.1, jitter: 0.1 } },
        ],
        network: { hopMs: 0.2, jitterMs: 1, lossProbability: 0.01, duplicateProbability: 0.05 },
        subserver: { resendMs: 100 },
      }),
    );
    expect(run.mismatches).toBe(0);
  });

  const laws: RoutingLaw[] = [
    { kind: 'correlated', rho: 0.5 },
    ...RUN_LENGTH_LAWS.map((kind) => ({ kind, leave: 0.35 })),
  ];

  it.each(laws)('routes by the law $kind as the sequential loop does', async (law) => {
    const [small, large] = options().models;
    if (!small || !large) throw new Error('two models');
    const run = await simulate(options({ models: [{ ...small, law }, large], totalTokens: 800 }));
    expect(run.mismatches).toBe(0);
  });

  it('the oracle sees a token that is wrong, and a writer', () => {
    const oracle = new SequentialOracle([{ kind: 'bernoulli' }, { kind: 'bernoulli' }], 0);
    const answer = { seed: 3, prompt: [1, 2], ids: [7, 7], models: [1, 1] };
    expect(oracle.mismatches(answer, matrices)).toBeGreaterThan(0);
    expect(oracle.mismatchesGivenWriters(answer)).toBe(2);
  });

  it('a shift of p takes effect when so many tokens were committed', async () => {
    const at = (p: number) => ({ ...matrices, routing: [[1 - p, p], [1, 0]] }); // prettier-ignore
    const shift = { matrices: [at(0.05), at(0.5)], everyTokens: 400 };
    const both = await simulate(options({ shift, totalTokens: 1600 }));
    const seldom = await simulate(options({ matrices: at(0.05) }));
    const often = await simulate(options({ matrices: at(0.5) }));
    expect(both.mismatches).toBe(0);
    expect(both.tokensPerSecond).toBeLessThan(0.8 * seldom.tokensPerSecond);
    expect(both.tokensPerSecond).toBeGreaterThan(1.2 * often.tokensPerSecond);
  });

  it.each<PolicySpec>([
    { kind: 'threshold', threshold: 9 },
    { kind: 'look-ahead' },
    { kind: 'take-turns', threshold: 3 },
    { kind: 'threshold-hold', threshold: 4 },
  ])('a drain under $kind ends, with answers of all lengths', async (policy) => {
    const run = await simulate(
      options({ drain: { numRequests: 9, minTokens: 5, maxTokens: 60 }, concurrency: 1 }, policy),
    );
    expect(run.mismatches).toBe(0);
    expect(run.tokens).toBeGreaterThan(9 * 5);
    expect(run.ci95).toBeNaN();
  });

  it('messages that take time cost throughput', async () => {
    const near = await simulate(options());
    const far = await simulate(options({ network: { hopMs: 2 } }));
    expect(far.tokensPerSecond).toBeLessThan(near.tokensPerSecond);
  });
});
