import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicy, type PolicySpec, type StartPolicy } from '../../scheduling/index.ts';
import { scriptedPair, type ScriptedModel } from '../helpers/chain-engine.ts';
import { drawnDestinations } from '../helpers/chaos-models.ts';
import { SimDeployment, type SimDeploymentOptions } from '../helpers/sim-deployment.ts';
import { endless } from '../helpers/sim-pair.ts';

const threshold = fc.oneof(
  fc.integer({ min: 1, max: 1000 }),
  fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 10 }),
);
const kappa = fc.constantFrom(0, 0.9, 2, 1000);
const policies = fc.oneof<fc.Arbitrary<PolicySpec>[]>(
  fc.record({ kind: fc.constantFrom('eager' as const, 'auto' as const) }),
  fc.record({ kind: fc.constantFrom('threshold' as const, 'take-turns' as const), threshold }),
  fc.record({ kind: fc.constant('threshold-hold' as const), threshold, kappa }),
  fc.record({ kind: fc.constant('look-ahead' as const), kappa }),
);
const schedule = fc.record({
  numModels: fc.constantFrom(2 as const, 3 as const),
  policies: fc.array(policies, { minLength: 3, maxLength: 3 }),
  stepMs: fc.array(fc.integer({ min: 1, max: 15 }), { minLength: 3, maxLength: 3 }),
  replicas: fc.array(fc.constantFrom(1, 1, 2), { minLength: 3, maxLength: 3 }),
  maxNumSeqs: fc.integer({ min: 1, max: 6 }),
  hopMs: fc.constantFrom(0, 0.2, 1.5),
  maxWaitMs: fc.constantFrom(1, 40, 250),
  requests: fc.array(
    fc.record({
      atMs: fc.constantFrom(0, 0, 1, 7, 30, 120),
      maxTokens: fc.integer({ min: 1, max: 16 }),
      abortMs: fc.option(fc.integer({ min: 1, max: 150 }), { nil: undefined, freq: 4 }),
    }),
    { minLength: 1, maxLength: 9 },
  ),
});
type Schedule = typeof schedule extends fc.Arbitrary<infer T> ? T : never;

/** Longest time for which a policy was told that a row has waited, by model. */
type Longest = Map<number, number>;

/** Notes the waits, and that no hold goes beyond the ceiling. */
function watched(policy: StartPolicy, maxWaitMs: number, longest: Longest): StartPolicy {
  return {
    name: policy.name,
    decide: (view) => {
      longest.set(view.self, Math.max(longest.get(view.self) ?? 0, view.oldestWaitMs));
      const decision = policy.decide(view);
      if (decision.kind === 'hold')
        expect(view.oldestWaitMs + decision.forMs).toBeLessThanOrEqual(maxWaitMs + 1e-6);
      return decision;
    },
  };
}

function modelsOf({ numModels }: Schedule): ScriptedModel[] {
  const pair = scriptedPair(0.4, 2);
  return numModels === 2
    ? [endless(pair.small), endless(pair.large)]
    : [1, 2, 3].map((token) => () => ({ token, entropy: 0 }));
}

function deployment(plan: Schedule, longest: Longest): SimDeployment {
  const { maxWaitMs, hopMs, maxNumSeqs } = plan;
  const models = modelsOf(plan).map((model, i) => {
    const spec = plan.policies[i] ?? { kind: 'eager' };
    const policy = createPolicy(spec.kind === 'eager' ? spec : { ...spec, maxWaitMs });
    return {
      ...{ name: `m${i + 1}`, model, replicas: plan.replicas[i] ?? 1 },
      ...{ stepMs: () => plan.stepMs[i] ?? 1, info: { maxNumSeqs } },
      // Auto keeps its own object: a wrapper would hide it from the runtime that plans for it.
      policy: spec.kind === 'auto' ? policy : watched(policy, maxWaitMs, longest),
    };
  });
  const options: SimDeploymentOptions = { models, network: { hopMs, seed: 1 } };
  return new SimDeployment(
    plan.numModels === 2
      ? options
      : {
          ...options,
          routers: [{ id: 'drawn', use: 'drawn', options: {} }],
          factories: { drawn: drawnDestinations },
        },
  );
}

function play(sim: SimDeployment, { requests }: Schedule): { numLeft: () => number } {
  let numToCome = requests.length;
  for (const [i, { atMs, maxTokens, abortMs }] of requests.entries()) {
    const rid = `req-${i}`;
    sim.clock.setTimer(atMs, () => {
      numToCome -= 1;
      const init = sim.init(2, { maxTokens });
      const stream = sim.client.submit(rid, [5, 6 + i], {
        ...init,
        sampling: { ...init.sampling, seed: i },
      });
      if (abortMs === undefined) return;
      sim.clock.setTimer(abortMs, () => {
        if (!stream.finish && stream.homeReplica !== undefined) sim.client.abort(rid, 'abort');
      });
    });
  }
  return { numLeft: () => numToCome + sim.client.numOpen };
}

describe('any policy at any model, nonsense included', () => {
  it('lets every request end, aborted ones too, and keeps no row waiting beyond the ceiling and its steps', async () => {
    await fc.assert(
      fc.asyncProperty(schedule, async (plan) => {
        const longest: Longest = new Map();
        const sim = await deployment(plan, longest).start();
        const { numLeft } = play(sim, plan);
        await sim.clock.runUntil(() => numLeft() === 0, 60_000);
        for (const { finish } of sim.client.streams.values()) expect(finish?.error).toBeUndefined();
        for (const [model, waitedMs] of longest) {
          const stepMs = plan.stepMs[model - 1] ?? 0;
          // The step that runs when a row comes, and those that take rows before it.
          const numSteps = 1 + Math.ceil(plan.requests.length / plan.maxNumSeqs);
          expect(waitedMs).toBeLessThanOrEqual(numSteps * (stepMs + plan.maxWaitMs) + 0.01);
        }
        // An abort may cross a first contact, whose guest is freed when its replica is known.
        await sim.clock.runFor(2500);
        expect(sim.numSequencesHeld).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('ends a drain without the help of the ceiling', async () => {
    const drain = fc.record({
      ...{ first: policies, second: policies },
      ...{ count: fc.integer({ min: 1, max: 9 }), hopMs: fc.constantFrom(0, 0.2), seed: fc.nat(99) },
    });
    await fc.assert(
      fc.asyncProperty(drain, async ({ first, second, count, hopMs, seed }) => {
        const pair = scriptedPair(0.4, 3);
        const patient = (spec: PolicySpec): StartPolicy =>
          createPolicy(spec.kind === 'eager' ? spec : { ...spec, maxWaitMs: 1e7 });
        const sim = await new SimDeployment({
          models: [
            { name: 'small', model: endless(pair.small), stepMs: () => 2, policy: patient(first) },
            { name: 'large', model: endless(pair.large), stepMs: () => 9, policy: patient(second) },
          ],
          network: { hopMs, seed },
        }).start();
        for (let i = 0; i < count; i += 1)
          sim.client.submit(`req-${i}`, [3, i + 1], sim.init(2, { maxTokens: 3 + ((i * 5 + seed) % 20) }));
        await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
      }),
      { numRuns: 200 },
    );
  });
});
