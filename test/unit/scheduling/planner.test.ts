import { describe, expect, it } from 'vitest';
import { pair } from '../../../bench/policies/cases.ts';
import { createPolicy, type PolicySpec } from '../../../scheduling/index.ts';
import {
  entryFor,
  makePlan,
  planEntry,
  type Candidate,
  type Plan,
  type SystemSpec,
} from '../../../scheduling/planner/index.ts';
import { Configured } from '../../../scheduling/planner/configured.ts';
import { Evaluator } from '../../../scheduling/planner/evaluator.ts';
import { aliveGrid, DEFAULT_EFFORT } from '../../../scheduling/planner/make-plan.ts';
import { searchThresholds } from '../../../scheduling/planner/search-thresholds.ts';
import { bestThresholds, throughputOfPolicies } from '../../../scheduling/throughput-model.ts';

const named = (candidates: readonly Candidate[], start: string): Candidate | undefined =>
  candidates.find(({ name }) => name.startsWith(start));

describe('a plan', () => {
  const plan = makePlan({ system: pair(0.35), aliveMax: 8 });

  it('has an entry for each number of requests, best first, every value as the chain gives it', () => {
    expect(plan.entries.map(({ alive }) => alive)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    for (const { alive, candidates } of plan.entries) {
      const values = candidates.map(({ tokensPerSecond }) => tokensPerSecond);
      values.forEach((value, i) =>
        expect(value).toBeLessThanOrEqual((values[i - 1] ?? Infinity) * (1 + 2e-5)),
      );
      for (const { policies, tokensPerSecond } of candidates) {
        const { routing, commits, stepMs } = pair(0.35);
        const made = policies.map((policy) => createPolicy(policy));
        const exact = throughputOfPolicies({ routing, commits, stepMs, concurrency: alive }, made);
        expect(tokensPerSecond).toBeCloseTo(exact.tokensPerSecond, 6);
      }
    }
  });

  it('says which values are simulated', () => {
    for (const { candidates } of plan.entries)
      for (const candidate of candidates) expect(candidate).not.toHaveProperty('isSampled');
    const scattered = planEntry({ system: { ...pair(0.35), jitter: [0.1, 0.1] }, aliveMax: 4 }, 4, {
      ...DEFAULT_EFFORT,
      tokens: 2000,
      searchTokens: 500,
    });
    expect(new Set(scattered.candidates.map(({ isSampled }) => isSampled))).toEqual(new Set([true]));
  });

  it('waits on forecasts only where that is predicted to be worth it, once step times scatter', () => {
    const entry = (p: number, stepMs: readonly [number, number], jitter: number) =>
      planEntry({ system: { ...pair(p, stepMs), jitter: [jitter, jitter] }, aliveMax: 8 }, 8).candidates;
    const first = (...args: Parameters<typeof entry>): string | undefined => entry(...args)[0]?.name;
    expect(first(0.05, [6, 10], 0.1)).toBe('eager');
    const even = (jitter: number): number => {
      const [eager, ahead] = ['eager', 'look-ahead'].map((name) =>
        entry(0.05, [6, 10], jitter).find((candidate) => candidate.name === name),
      );
      return (ahead?.tokensPerSecond ?? 0) / (eager?.tokensPerSecond ?? 0);
    };
    expect(even(0)).toBeGreaterThan(1);
    expect(even(0)).toBeLessThan(1.02);
    expect(even(0.1)).toBeLessThan(1);
    expect(even(0.1)).toBeGreaterThan(0.97);
    expect(first(0.35, [6, 27.9], 0.1)).not.toBe('eager');
    expect(first(0.35, [6, 27.9], 0)).not.toBe('eager');
  });

  it('finds the best thresholds', () => {
    for (const { alive, candidates } of plan.entries.slice(1)) {
      const { routing, commits, stepMs } = pair(0.35);
      const best = bestThresholds({ routing, commits, stepMs, concurrency: alive }).tokensPerSecond;
      expect((named(candidates, 'threshold(')?.tokensPerSecond ?? 0) / best).toBeCloseTo(1, 4);
    }
  });

  it('always has eager, and nothing else where nobody else can come', () => {
    for (const { candidates } of plan.entries) expect(named(candidates, 'eager')).toBeDefined();
    expect(plan.entries[0]?.candidates.map(({ name }) => name)).toEqual(['eager']);
    const single: SystemSpec = { routing: [[1]], commits: [[1]], stepMs: [[5]], overlapFactor: 1, home: 1 };
    const candidates = planEntry({ system: single, aliveMax: 4 }, 4).candidates;
    expect(candidates.map(({ name, tokensPerSecond }) => [name, Math.round(tokensPerSecond)])).toEqual([
      ['eager', 800],
    ]);
  });

  it('takes turns where models slow each other down, and never looks for turns where they do not', () => {
    const shared = planEntry({ system: pair(0.35, [6, 27.9], 0.5), aliveMax: 8 }, 8).candidates;
    expect(named(shared, 'take-turns')?.tokensPerSecond).toBeGreaterThan(380);
    expect(named(plan.entries[7]?.candidates ?? [], 'take-turns')).toBeUndefined();
  });

  it('works with any model as the home', () => {
    const turned: SystemSpec = {
      routing: [
        [0, 1],
        [0.35, 0.65],
      ],
      commits: [
        [0, 1],
        [0, 1],
      ],
      stepMs: [[27.9], [6]],
      overlapFactor: 1,
      home: 2,
    };
    const best = planEntry({ system: turned, aliveMax: 8 }, 8).candidates[0];
    expect(best?.tokensPerSecond).toBeCloseTo(plan.entries[7]?.candidates[0]?.tokensPerSecond ?? 0, 6);
    expect(best?.name).toBe('threshold-hold(5,1)');
  });

  it('puts candidates within a bound on the delay first, else the one that exceeds it least', () => {
    const problem = { system: pair(0.35), aliveMax: 8 };
    const effort = { ...DEFAULT_EFFORT, tokens: 4000 };
    const p99s = (bound: number): number[] =>
      planEntry({ ...problem, admissionP99Ms: bound }, 8, effort).candidates.map(
        ({ p99AdmissionMs = NaN }) => p99AdmissionMs,
      );
    const within = p99s(36);
    const numWithin = within.filter((ms) => ms <= 36).length;
    expect(numWithin).toBeGreaterThan(1);
    expect(within.slice(0, numWithin).every((ms) => ms <= 36)).toBe(true);
    expect(within.slice(numWithin).every((ms) => ms > 36)).toBe(true);
    const beyond = p99s(1);
    expect(beyond[0]).toBe(Math.min(...beyond));
    const generous = planEntry({ ...problem, admissionP99Ms: 1e6 }, 8, effort).candidates[0];
    expect(generous?.name).toBe(plan.entries[7]?.candidates[0]?.name);
  });

  it('gives every policy that waits its ceiling', () => {
    const { candidates } = planEntry({ system: pair(0.35), aliveMax: 4, maxWaitMs: 170 }, 4);
    for (const { policies } of candidates)
      for (const policy of policies) expect(policy.maxWaitMs).toBe(policy.kind === 'eager' ? undefined : 170);
  });

  describe('beside a model that keeps its policy', () => {
    const guestHas = (guest: PolicySpec): PolicySpec[] => [{ kind: 'auto' }, guest];
    const best = (own: PolicySpec[], alive: number): Candidate | undefined =>
      planEntry({ system: pair(0.35), aliveMax: alive, own }, alive).candidates[0];

    it('has no candidate of another policy there, and values as the chain gives them', () => {
      const kept: PolicySpec = { kind: 'threshold', threshold: [1, 1, 2], maxWaitMs: 300 };
      const { candidates } = planEntry({ system: pair(0.35), aliveMax: 8, own: guestHas(kept) }, 8);
      expect(candidates.length).toBeGreaterThan(2);
      const { routing, commits, stepMs } = pair(0.35);
      for (const { policies, tokensPerSecond } of candidates) {
        expect(policies[1]).toEqual(kept);
        const made = policies.map((policy) => createPolicy(policy));
        const exact = throughputOfPolicies({ routing, commits, stepMs, concurrency: 8 }, made);
        expect(tokensPerSecond).toBeCloseTo(exact.tokensPerSecond, 6);
      }
    });

    it('is the best there is beside it, where the plan of free models is not', () => {
      const kept: PolicySpec = { kind: 'take-turns', threshold: 1 };
      const system = pair(0.35, [6, 27.9], 0.5);
      const beside = (own?: PolicySpec[]): readonly PolicySpec[] =>
        planEntry({ system, aliveMax: 8, ...(own ? { own } : {}) }, 8).candidates[0]?.policies ?? [];
      const valueOf = (policies: readonly PolicySpec[]): number => {
        const { routing, commits, stepMs, overlapFactor } = system;
        const made = policies.map((policy) => createPolicy(policy));
        return throughputOfPolicies({ routing, commits, stepMs, overlapFactor, concurrency: 8 }, made)
          .tokensPerSecond;
      };
      const fixed = [kept, { kind: 'eager' }] as const;
      const [, guest] = beside();
      const planned = beside([kept, { kind: 'auto' }]);
      expect(planned[0]).toEqual(kept);
      expect(valueOf(planned)).toBeGreaterThanOrEqual(valueOf([kept, guest ?? kept]) * (1 - 1e-5));
      expect(valueOf(planned)).toBeGreaterThanOrEqual(valueOf(fixed) * (1 - 1e-5));
    });

    it('does not choose twice what comes to the same, and names no number there', () => {
      const { candidates } = planEntry(
        { system: pair(0.35), aliveMax: 8, own: guestHas({ kind: 'eager' }) },
        8,
      );
      const keys = candidates.map(({ policies }) => JSON.stringify(policies));
      expect(new Set(keys).size).toBe(keys.length);
      for (const { name } of candidates) expect(name).not.toMatch(/,\d+\)$/);
      expect(best(guestHas({ kind: 'eager' }), 1)?.policies).toEqual([{ kind: 'eager' }, { kind: 'eager' }]);
    });

    it('each model has its own ceiling, and a short one makes the chain another system', () => {
      const own = (homeMs: number): PolicySpec[] => [
        { kind: 'auto', maxWaitMs: homeMs },
        { kind: 'auto', maxWaitMs: 400 },
      ];
      const { candidates } = planEntry({ system: pair(0.35), aliveMax: 4, own: own(300), maxWaitMs: 170 }, 4);
      for (const { policies, isSampled } of candidates) {
        expect(isSampled).toBeUndefined();
        expect(policies.map(({ kind, maxWaitMs }) => (kind === 'eager' ? 0 : maxWaitMs))).toEqual(
          policies.map(({ kind }, i) => (kind === 'eager' ? 0 : i === 0 ? 300 : 400)),
        );
      }
      const effort = { ...DEFAULT_EFFORT, tokens: 2000, searchTokens: 500 };
      const short = planEntry({ system: pair(0.35), aliveMax: 4, own: own(50) }, 4, effort).candidates;
      expect(short.every(({ isSampled }) => isSampled)).toBe(true);
    });
  });

  it('that had to be fast, since step times scatter, is as good as one that took its time', () => {
    const system = { ...pair(0.35), jitter: [0.3, 0.3] };
    const { entries } = makePlan({ system, aliveMax: 4 });
    const slow = new Evaluator(system, 4, new Configured(), { ...DEFAULT_EFFORT, tokens: 60_000 });
    const valueOf = (candidate: Candidate | undefined): number =>
      slow.sampled(candidate?.policies ?? []).tokensPerSecond;
    const thorough = planEntry({ system, aliveMax: 4 }, 4);
    const [fast] = entryFor({ entries }, 4)?.candidates ?? [];
    expect(valueOf(fast) / valueOf(thorough.candidates[0])).toBeGreaterThan(0.99);
    expect(valueOf(fast)).toBeGreaterThan(valueOf(named(thorough.candidates, 'eager')));
  });

  it('is sampled where the chain is not the system: jitter, replicas', () => {
    const system = { ...pair(0.35), jitter: [0.1, 0.1], replicas: [2, 1] };
    const { candidates } = planEntry({ system, aliveMax: 8 }, 8);
    expect(candidates[0]?.name).not.toBe('eager');
    for (const { tokensPerSecond } of candidates) {
      expect(tokensPerSecond).toBeGreaterThan(360);
      expect(tokensPerSecond).toBeLessThan(420);
    }
  });

  it('refuses what is no system', () => {
    const wrong = { ...pair(0.35), stepMs: [[0], [1]] };
    for (const problem of [
      { system: wrong, aliveMax: 4 },
      { system: pair(0.35), aliveMax: 0 },
      { system: pair(0.35), aliveMax: 2.5 },
    ])
      expect(() => makePlan(problem)).toThrow(expect.objectContaining({ code: 'config_invalid' }));
  });
});

describe('the grid of a plan', () => {
  it('is dense where it matters and ends with the largest', () => {
    expect(aliveGrid(1, 16)).toEqual([1]);
    expect(aliveGrid(5, 16)).toEqual([1, 2, 3, 4, 5]);
    expect(aliveGrid(64, 16).slice(14)).toEqual([15, 16, 20, 25, 32, 40, 50, 63, 64]);
    expect(aliveGrid(16, 4)).toEqual([1, 2, 3, 4, 5, 7, 9, 12, 15, 16]);
  });

  it('is served by the nearest entry', () => {
    const grid: Plan = { entries: [1, 2, 8].map((alive) => ({ alive, candidates: [] })) };
    expect([0, 1, 4, 5, 6, 99].map((alive) => entryFor(grid, alive)?.alive)).toEqual([1, 1, 2, 2, 8, 8]);
    expect(entryFor({ entries: [] }, 3)).toBeUndefined();
  });
});

describe('the search for thresholds', () => {
  it('climbs along exchanges of two models, within bounds, each value once', () => {
    const asked = new Set<string>();
    const found = searchThresholds({
      evaluate: (rows) => {
        const [a = 0, b = 0] = rows;
        expect(asked.has(rows.join())).toBe(false);
        asked.add(rows.join());
        return 100 - 40 * Math.abs(a + b - 12) - Math.abs(a - 9); // a ridge across the axes
      },
      starts: [[1, 11]],
      largest: [20, 20],
      gain: 1e-9,
    });
    expect(found.thresholds).toEqual([9, 3]);
    expect(asked.size).toBeLessThan(80);
  });
});
