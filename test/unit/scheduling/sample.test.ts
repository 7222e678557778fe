import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicy, type PolicySpec, type StartPolicy } from '../../../scheduling/index.ts';
import { throughputOfPolicies } from '../../../scheduling/throughput-model.ts';
import { samplePolicies, type RunLengthLaw, type SampleSpec } from '../../../scheduling/throughput/sample.ts';
import { runLength } from '../../../scheduling/throughput/sample/run-lengths.ts';
import { cascade, pair as chainPair } from './support/chain-systems.ts';

const pair = (p: number, concurrency: number, change: Partial<SampleSpec> = {}): SampleSpec => ({
  ...chainPair(p, concurrency),
  ...change,
});
const three: SampleSpec = cascade([0.2, 0.1, 0.1], 4);
const same = (spec: PolicySpec, count: number): StartPolicy[] =>
  Array.from({ length: count }, () =>
    createPolicy({ ...spec, ...(spec.kind === 'eager' ? {} : { maxWaitMs: 1e6 }) }),
  );
const eager: PolicySpec = { kind: 'eager' };
const lookAhead: PolicySpec = { kind: 'look-ahead' };

describe('the sampled model', () => {
  it('agrees with the exact chain within its error, delays and utilisation included', () => {
    const cases: [SampleSpec, PolicySpec][] = [
      [pair(0.35, 8), eager],
      [pair(0.35, 8), { kind: 'threshold', threshold: 3 }],
      [pair(0.35, 8, { stepMs: [6, 24] }), lookAhead], // ties
      [pair(0.35, 8, { overlapFactor: 0.66 }), lookAhead],
      [pair(0.35, 8, { overlapFactor: 0.66 }), { kind: 'take-turns', threshold: 3 }],
      [pair(0.2, 6, { stepMs: [[2, 3, 4], 9], maxNumSeqs: [4, 2] }), eager],
      [three, eager],
      [three, lookAhead],
    ];
    for (const [spec, policy] of cases) {
      const policies = same(policy, spec.stepMs.length);
      const exact = throughputOfPolicies(spec, policies);
      const sample = samplePolicies(spec, policies, { tokens: 60_000 });
      const name = `${policy.kind} ${JSON.stringify(spec.stepMs)}`;
      expect(sample.standardError / exact.tokensPerSecond, name).toBeLessThan(0.006);
      expect(Math.abs(sample.tokensPerSecond - exact.tokensPerSecond), name).toBeLessThan(
        4 * sample.standardError,
      );
      exact.utilisation.forEach((busy, i) => expect(sample.utilisation[i], name).toBeCloseTo(busy, 1.5));
      exact.admissionDelayMs.forEach((ms, i) =>
        expect(Math.abs((sample.admissionDelayMs[i] ?? 0) - ms), name).toBeLessThan(0.05 * ms + 0.1),
      );
      sample.p99AdmissionMs.forEach((ms, i) =>
        expect(ms, name).toBeLessThanOrEqual(sample.longestDelayMs[i] ?? 0),
      );
    }
  });

  it('gives the same result for the same seed, and another for another', () => {
    const run = (seed: number): number =>
      samplePolicies(pair(0.35, 8), same(lookAhead, 2), { tokens: 2000, seed }).tokensPerSecond;
    expect(run(5)).toBe(run(5));
    expect(run(5)).not.toBe(run(6));
  });

  it('compares policies on the same requests: no gain where there is nothing to gain', () => {
    const run = (policy: PolicySpec): number =>
      samplePolicies(pair(0.05, 2), same(policy, 2), { tokens: 5000 }).tokensPerSecond;
    expect(run(lookAhead)).toBe(run(eager));
  });

  it('gives each replica its own requests', () => {
    const doubled = samplePolicies(pair(0.35, 16, { replicas: [2, 2] }), same(eager, 2), { tokens: 40_000 });
    const single = throughputOfPolicies(pair(0.35, 8), same(eager, 2));
    expect(doubled.tokensPerSecond / (2 * single.tokensPerSecond)).toBeCloseTo(1, 1.3);
  });

  it('ends a drain with every token of every request, whatever is held', () => {
    const spec = pair(0.35, 5, { drain: { minTokens: 10, maxTokens: 10 } });
    const never: StartPolicy = { name: 'never', decide: () => ({ kind: 'hold', forMs: 1e9 }) };
    expect(samplePolicies(spec, [never, never]).tokens).toBe(50);
    expect(samplePolicies(spec, same(lookAhead, 2)).tokens).toBe(50);
  });

  it('refuses what can never commit a token', () => {
    const commits = [
      [0, 0],
      [0, 0],
    ];
    expect(() => samplePolicies(pair(0.35, 2, { commits }), same(eager, 2))).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
    expect(() => samplePolicies(pair(0.35, 2), same(eager, 1))).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
  });
});

describe('run lengths', () => {
  const laws: RunLengthLaw[] = ['geometric', 'deterministic', 'bimodal', 'bursty', 'heavy-tailed'];

  it('have the mean that is asked for, one step at least', () => {
    const count = 200_000;
    for (const law of laws)
      for (const mean of [1, 2.5, 8]) {
        let sum = 0;
        let shortest = Infinity;
        for (let i = 0; i < count; i += 1) {
          const steps = runLength(law, mean, (i + 0.5) / count); // stratified: no luck
          sum += steps;
          shortest = Math.min(shortest, steps);
        }
        expect(shortest, law).toBeGreaterThanOrEqual(1);
        // The tail that a finite grid cuts off holds some of the mean.
        expect(sum / count / mean, `${law} ${mean}`).toBeCloseTo(1, law === 'heavy-tailed' ? 1 : 2);
      }
  });

  it('keep the share of the tokens that the guest writes', () => {
    for (const runLengths of laws) {
      const sample = samplePolicies(pair(0.2, 4, { runLengths }), same(eager, 2), { tokens: 60_000 });
      // One guest token per run of 1 / p home steps, the last of which commits nothing: rows are in that ratio.
      const rows = (sample.utilisation[1] ?? 0) / 27.9 / ((sample.utilisation[0] ?? 0) / 6);
      const ratio = (rows * (sample.meanRows[1] ?? 0)) / (sample.meanRows[0] ?? 1);
      expect(ratio / 0.2, runLengths).toBeGreaterThan(runLengths === 'heavy-tailed' ? 0.8 : 0.96);
      expect(ratio / 0.2, runLengths).toBeLessThan(runLengths === 'heavy-tailed' ? 1.3 : 1.04);
    }
  });
});

describe('no hang', () => {
  const threshold = fc.oneof(
    fc.integer({ min: 1, max: 40 }),
    fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
  );
  const kappa = fc.constantFrom(0, 0.5, 1, 3, 100);
  const policy = fc.oneof<fc.Arbitrary<PolicySpec>[]>(
    fc.constant(eager),
    fc.record({ kind: fc.constantFrom('threshold' as const, 'take-turns' as const), threshold }),
    fc.record({ kind: fc.constant('threshold-hold' as const), threshold, kappa }),
    fc.record({ kind: fc.constant('look-ahead' as const), kappa }),
  );
  const systems = fc.record({
    concurrency: fc.integer({ min: 1, max: 12 }),
    p: fc.constantFrom(0, 0.05, 0.35, 0.9, 1),
    stepMs: fc.tuple(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 })),
    overlapFactor: fc.constantFrom(1, 0.66, 0.3),
    replicas: fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 })),
    jitter: fc.constantFrom(0, 0.1, 0.5),
    maxNumSeqs: fc.integer({ min: 1, max: 6 }),
    maxTokens: fc.integer({ min: 1, max: 12 }),
    maxWaitMs: fc.constantFrom(0, 5, 250),
    seed: fc.nat(),
  });

  it('whatever the policies are, each model a different one: thousands of drains end, nobody waits without a reason', () => {
    fc.assert(
      fc.property(systems, policy, policy, (system, home, guest) => {
        const { p, concurrency, stepMs, jitter, maxNumSeqs, maxTokens, maxWaitMs, seed, ...rest } = system;
        const spec = pair(p, concurrency, {
          ...{ stepMs, jitter: [jitter, jitter], maxNumSeqs: [maxNumSeqs, maxNumSeqs], ...rest },
          drain: { minTokens: 1, maxTokens },
        });
        const policies = [home, guest].map((one) =>
          createPolicy(one.kind === 'eager' ? one : { ...one, maxWaitMs }),
        );
        const sample = samplePolicies(spec, policies, { seed });
        expect(sample.tokens).toBeGreaterThanOrEqual(concurrency);
        // A row waits for the ceiling, and then for steps that take others: at most all alive, maxNumSeqs at a time.
        const longestStepMs = Math.max(...stepMs) * (1 + 6 * jitter);
        const numSteps = 1 + Math.ceil(concurrency / maxNumSeqs);
        const boundMs = numSteps * (longestStepMs / system.overlapFactor + maxWaitMs) + 0.01;
        for (const delayMs of sample.longestDelayMs) expect(delayMs).toBeLessThanOrEqual(boundMs);
      }),
      { numRuns: 3000 },
    );
  });
});
