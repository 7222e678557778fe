import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactRow } from '../../../bench/policies/exact-row.ts';
import { cascade, gridCases, pair as pairSystem } from '../../../bench/policies/cases.ts';
import { planEntry } from '../../../scheduling/planner/index.ts';
import { createPolicy, type QueueView, type StartPolicy } from '../../../scheduling/index.ts';
import {
  optimum,
  throughputOf,
  throughputOfPolicies,
  type ChainSpec,
} from '../../../scheduling/throughput-model.ts';
import { cascade as cascadeChain, pair } from './support/chain-systems.ts';

const three = cascadeChain([0.2, 0.1, 0.1], 3);
const thresholds = (rows: readonly number[]): StartPolicy[] =>
  rows.map((threshold) => createPolicy({ kind: 'threshold', threshold }));

describe('the chain under policies', () => {
  it('gives thresholds what the chain of thresholds gives', () => {
    const cases: [ChainSpec, number[]][] = [
      [pair(0.35, 8), [1, 5]],
      [pair(0.2, 8, { stepMs: [6, 24] }), [2, 3]],
      [pair(0.35, 8, { overlapFactor: 0.66 }), [3, 6]],
      [pair(0.35, 6, { stepMs: [[2, 2, 3], [9]], maxNumSeqs: [4, 2] }), [2, 2]],
      [three, [1, 2, 1]],
    ];
    for (const [spec, rows] of cases) {
      const expected = throughputOf(spec, rows);
      const found = throughputOfPolicies(spec, thresholds(rows));
      expect(found.numStates).toBe(expected.numStates);
      expect(found.tokensPerSecond).toBeCloseTo(expected.tokensPerSecond, 8);
    }
  });

  it('lets the longest queue start where nobody wants to', () => {
    const never: StartPolicy = { name: 'never', decide: () => ({ kind: 'hold', forMs: 1 }) };
    // Everybody goes to the guest and comes back together: N tokens per round of both steps.
    const spec = pair(1, 4);
    const found = throughputOfPolicies(spec, [never, never]);
    expect(found.tokensPerSecond).toBeCloseTo((1000 * 4) / (6 + 27.9), 6);
  });

  it('has the home decide first, and the others see what it has just started', () => {
    const seen: string[] = [];
    const look = (view: QueueView): void => {
      const running = view.peers.filter(({ rowsRunning }) => rowsRunning > 0);
      seen.push(`${view.self}: ${running.map((peer) => `${peer.rowsRunning} at ${peer.model}`).join()}`);
    };
    const policy: StartPolicy = {
      name: 'seen',
      decide: (view) => {
        look(view);
        return { kind: 'start' };
      },
    };
    throughputOfPolicies({ ...three, concurrency: 2 }, [policy, policy, policy], 2);
    expect(seen[0]).toBe('1: ');
    expect(seen).toContain('2: ');
    expect(seen).not.toContain('2: 1 at 1'); // the home, 2 here, never waits for what 1 starts at the same epoch
    expect(seen).toContain('1: 1 at 2');
  });

  it('shows how long peers still run, slowed by contention while two do', () => {
    const [alone, together] = [new Set<number>(), new Set<number>()];
    const policy: StartPolicy = {
      name: 'seen',
      decide: ({ peers }) => {
        const running = peers.filter(({ rowsRunning }) => rowsRunning > 0);
        for (const peer of running) (running.length > 1 ? together : alone).add(peer.stepLeftMs);
        return { kind: 'start' };
      },
    };
    throughputOfPolicies({ ...three, stepMs: [3, 5, 7], overlapFactor: 0.25, quantumMs: 1 }, [
      policy,
      policy,
      policy,
    ]);
    expect(Math.max(...alone)).toBeLessThanOrEqual(7);
    expect(Math.max(...together)).toBeGreaterThan(7);
    for (const leftMs of together) expect(leftMs % 4).toBe(0);
  });
});

describe('the optimum', () => {
  it('is what dynamic programming found for the reference cases', () => {
    const cases: [number, number, number[], number][] = [
      [1, 0.35, [1, 1], 0],
      [2, 0.35, [1, 2], 0],
      [8, 0.05, [1, 1], 0.79],
      [8, 0.2, [1, 3], 0.99],
      [8, 0.35, [1, 5], 1.17],
    ];
    for (const [concurrency, p, rows, percent] of cases) {
      const best = throughputOf(pair(p, concurrency), rows).tokensPerSecond;
      const found = 100 * (optimum(pair(p, concurrency)).tokensPerSecond / best - 1);
      expect(Math.abs(found - percent), `N ${concurrency}, p ${p}: ${found}`).toBeLessThan(0.006);
    }
  });

  it('is never below any policy, whatever it begins with', () => {
    const specs = fc.record({
      p: fc.constantFrom(0.1, 0.4, 0.8),
      concurrency: fc.integer({ min: 1, max: 5 }),
      large: fc.integer({ min: 1, max: 60 }),
      overlapFactor: fc.constantFrom(1, 0.6),
    });
    const policies = fc.oneof(
      fc.integer({ min: 1, max: 5 }).map((threshold) => createPolicy({ kind: 'threshold', threshold })),
      fc.constantFrom(0, 0.5, 1, 5).map((kappa) => createPolicy({ kind: 'look-ahead', kappa })),
      fc.constantFrom(1, 2).map((threshold) => createPolicy({ kind: 'take-turns', threshold })),
    );
    fc.assert(
      fc.property(specs, policies, policies, ({ p, concurrency, large, overlapFactor }, home, guest) => {
        const spec = pair(p, concurrency, { stepMs: [1, large / 10], overlapFactor });
        const best = optimum(spec, { policies: [home, guest] }).tokensPerSecond;
        expect(best).toBeGreaterThanOrEqual(
          throughputOfPolicies(spec, [home, guest]).tokensPerSecond * (1 - 1e-9),
        );
        expect(best).toBeCloseTo(optimum(spec).tokensPerSecond, 5);
      }),
      { numRuns: 60 },
    );
  });

  it('is found from policies that keep to themselves in states which are never visited', () => {
    const spec = pair(0.8, 4, { stepMs: [1, 5], overlapFactor: 1 });
    const never = createPolicy({ kind: 'look-ahead', kappa: 0 });
    const best = optimum(spec, { policies: [never, never] }).tokensPerSecond;
    expect(best).toBeCloseTo(optimum(spec).tokensPerSecond, 5);
    expect(best).toBeGreaterThanOrEqual(throughputOfPolicies(spec, [never, never]).tokensPerSecond);
  });

  it('is refused where it would take too long', () => {
    expect(() => optimum(pair(0.35, 8), { maxNodes: 1000 })).toThrow(
      expect.objectContaining({ code: 'config_invalid' }),
    );
  });
});

describe('the default policy, exactly', () => {
  it('beats the best thresholds on the reference grid, nearly as far as is possible', () => {
    const rows = gridCases.filter(({ concurrency }) => concurrency <= 8).map(exactRow);
    const mean = rows.reduce((sum, row) => sum + row.gainPercent, 0) / rows.length;
    expect(mean).toBeGreaterThan(0.35); // with N = 16, where it gains more, 0.50
    for (const row of rows) {
      expect(row.gainPercent, row.name).toBeGreaterThan(-1e-6);
      expect((row.optimumGainPercent ?? 0) - row.gainPercent, row.name).toBeLessThan(0.15);
    }
  });

  it('keeps the phase where thresholds lose it, takes turns on a shared device, and handles three models', () => {
    const gains = [
      { system: pairSystem(0.35, [6, 24.3]), concurrency: 8, rows: [2, 5], percent: 3 },
      { system: pairSystem(0.35, [6, 30.3]), concurrency: 8, rows: [1, 6], percent: 2 },
      { system: pairSystem(0.35, [6, 27.9], 0.66), concurrency: 8, rows: [3, 6], percent: -1e-6 },
      { system: cascade, concurrency: 4, rows: [1, 1, 1], percent: 5 }, // no other thresholds are better
    ];
    for (const { system, concurrency, rows, percent } of gains) {
      const base = throughputOf({ ...system, concurrency }, rows).tokensPerSecond;
      const best = planEntry({ system, aliveMax: concurrency }, concurrency).candidates[0];
      expect(100 * ((best?.tokensPerSecond ?? 0) / base - 1), best?.name).toBeGreaterThan(percent);
    }
  });
});

describe('look-ahead where larger steps take longer', () => {
  const byRows = (base: number, perRow: number): number[] =>
    Array.from({ length: 8 }, (_, i) => base + perRow * (i + 1));

  it.each([
    ['much in common', byRows(4, 1), byRows(20, 4)],
    ['little in common', byRows(2, 1), byRows(8, 6)],
    ['hardly anything in common', byRows(1, 1), byRows(2, 8)],
  ])('never falls behind eager: %s', (_name, small, large) => {
    for (const p of [0.1, 0.2, 0.35]) {
      const spec = pair(p, 8, { stepMs: [small, large], quantumMs: 0.5 });
      const rate = (kind: 'eager' | 'look-ahead'): number =>
        throughputOfPolicies(spec, [createPolicy({ kind }), createPolicy({ kind })]).tokensPerSecond;
      expect(rate('look-ahead') / rate('eager')).toBeGreaterThan(0.9995);
    }
  });
});
