import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SamplingParams } from '../../core/request.ts';
import { createPolicy, type PolicySpec } from '../../scheduling/index.ts';
import type { NetworkOptions } from '../../simulation/index.ts';
import { scriptedPair } from '../helpers/chain-engine.ts';
import { between } from '../helpers/even-arbitraries.ts';
import { sequentialAnswer, type OracleModel } from '../helpers/sequential-oracle.ts';
import { greedy, SimDeployment, type SimModel } from '../helpers/sim-deployment.ts';

interface Scenario {
  numRequests: number;
  homes: number;
  guests: number;
  pUnsure: number;
  meanSpan: number;
  policies: [PolicySpec, PolicySpec];
  network: NetworkOptions;
  sampling: (index: number) => SamplingParams;
  maxTokens: number;
  info?: SimModel['info'];
  budget?: number;
}

/** Runs a scenario and compares every stream with the sequential loop. */
async function check(scenario: Scenario): Promise<SimDeployment> {
  const pair = scriptedPair(scenario.pUnsure, scenario.meanSpan);
  const { info, budget } = scenario;
  const common = {
    ...(info ? { info } : {}),
    options: { resendMs: 40, ...(budget === undefined ? {} : { maxNumBatchedTokens: budget }) },
  };
  const sim = await new SimDeployment({
    models: [
      {
        name: 'small',
        model: pair.small,
        replicas: scenario.homes,
        stepMs: (rows) => 2 + 0.1 * rows,
        policy: createPolicy(scenario.policies[0]),
        ...common,
      },
      {
        name: 'large',
        model: pair.large,
        replicas: scenario.guests,
        stepMs: (rows) => 9 + 0.3 * rows,
        policy: createPolicy(scenario.policies[1]),
        ...common,
      },
    ],
    network: scenario.network,
  }).start();
  const prompts = Array.from({ length: scenario.numRequests }, (_, i) =>
    Array.from({ length: 1 + ((i * 7) % 40) }, (_, j) => 1 + ((i * 31 + j * 17) % 900)),
  );
  prompts.forEach((prompt, i) => {
    const init = sim.init(prompt.length, { sampling: scenario.sampling(i), maxTokens: scenario.maxTokens });
    sim.client.submit(`req-${i}`, prompt, init);
  });
  await sim.clock.runUntil(() => sim.client.numOpen === 0, 600_000);

  const oracle = new Map<number, OracleModel>();
  for (const [id, model] of [
    [1, pair.small],
    [2, pair.large],
  ] as const) {
    const router = sim.routers.get(id)?.get('r-stitch');
    if (!router) throw new Error('no router');
    oracle.set(id, { model, router });
  }
  prompts.forEach((prompt, i) => {
    const stream = sim.client.streams.get(`req-${i}`);
    const limits = { maxTokens: scenario.maxTokens, stopIds: [0] };
    const expected = sequentialAnswer(oracle, 1, prompt, scenario.sampling(i), limits);
    expect(stream?.finish?.error).toBeUndefined();
    expect(stream?.ids).toEqual(expected.ids);
    expect(stream?.models).toEqual(expected.models);
    expect(stream?.finish?.reason).toBe(expected.reason);
    const counts = Object.fromEntries(stream?.finish?.usage.tokensByModel ?? []);
    expect((counts[1] ?? 0) + (counts[2] ?? 0)).toBe(expected.ids.length);
  });
  return sim;
}

const quiet: NetworkOptions = { hopMs: 0.2 };
const eager: PolicySpec = { kind: 'eager' };
const base: Omit<Scenario, 'numRequests' | 'homes' | 'guests'> = {
  pUnsure: 0.3,
  meanSpan: 2,
  policies: [eager, eager],
  network: quiet,
  sampling: () => greedy,
  maxTokens: 40,
};

describe('the asynchronous runtime writes what the sequential loop writes', () => {
  for (const numRequests of [1, 8, 32]) {
    for (const replicas of [1, 2]) {
      it(`greedy, ${numRequests} requests, ${replicas} replica(s) per model`, async () => {
        const sim = await check({ ...base, numRequests, homes: replicas, guests: replicas });
        await sim.clock.runFor(50);
        expect(sim.numSequencesHeld).toBe(0);
      });
    }
  }

  it('with seeds at temperature 0.8', async () => {
    await check({
      ...base,
      numRequests: 16,
      homes: 2,
      guests: 2,
      sampling: (i) => ({ ...greedy, temperature: 0.8, seed: i % 5 }),
    });
  });

  it('with prompts fed in chunks and little KV memory (preemption)', async () => {
    const sim = await check({
      ...base,
      numRequests: 24,
      homes: 1,
      guests: 1,
      info: { numKvBlocks: 12, blockSizeTokens: 16, maxNumSeqs: 4 },
      budget: 8,
    });
    const preemptions = sim.replicas.map(
      ({ subserver }) => subserver.counters.get('num_preemptions') + subserver.counters.get('kv_evictions'),
    );
    expect(Math.max(...preemptions)).toBeGreaterThan(0);
  });

  it('whatever the network loses, doubles, delays and reorders, under every policy', async () => {
    const policy = fc.oneof(
      fc.constant<PolicySpec>({ kind: 'eager' }),
      fc.record({
        kind: fc.constant('threshold' as const),
        threshold: fc.integer({ min: 1, max: 12 }),
        maxWaitMs: fc.constant(60),
      }),
    );
    const scenario = fc.record({
      numRequests: fc.integer({ min: 1, max: 10 }),
      homes: fc.integer({ min: 1, max: 2 }),
      guests: fc.integer({ min: 1, max: 2 }),
      pUnsure: between(0, 1),
      meanSpan: between(1, 6),
      policies: fc.tuple(policy, policy),
      network: fc.record({
        hopMs: between(0, 2),
        jitterMs: between(0, 3),
        lossProbability: between(0, 0.15),
        duplicateProbability: between(0, 0.3),
        reorderProbability: between(0, 0.3),
        reorderMs: fc.constant(30),
        seed: fc.integer(),
      }),
      isSampled: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ isSampled, ...rest }) => {
        const sampling = (i: number): SamplingParams =>
          isSampled ? { ...greedy, temperature: 0.8, seed: i } : greedy;
        await check({ ...base, ...rest, sampling, maxTokens: 16 });
      }),
      { numRuns: Number(process.env['TOKENRAIL_PROPERTY_RUNS'] ?? 150) },
    );
  });
});
