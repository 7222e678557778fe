import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import type { SystemSpec } from '../../../scheduling/planner/index.ts';
import { ladderOf } from '../../../scheduling/tuner/ladder.ts';
import { Trials } from '../../../scheduling/tuner/trials.ts';
import { candidate } from './support/candidate.ts';

const system = (numModels: number, replicas?: number[]): SystemSpec => ({
  routing: Array.from({ length: numModels }, () =>
    Array.from({ length: numModels }, (_, j) => (j === 0 ? 1 : 0)),
  ),
  commits: Array.from({ length: numModels }, () => Array.from({ length: numModels }, () => 1)),
  stepMs: Array.from({ length: numModels }, () => [6]),
  overlapFactor: 1,
  home: 1,
  ...(replicas ? { replicas } : {}),
});

describe('the ladder', () => {
  it('reaches from few rows at the guest to turns', () => {
    const names = ladderOf(system(2), 8, 400).map(({ candidate: { name } }) => name);
    expect(names).toEqual([
      'threshold(1,2)',
      'threshold(1,4)',
      'threshold(2,4)',
      'threshold(4,4)',
      'threshold(6,1)',
      'take-turns(4,1)',
    ]);
    // An eighth of eight is one row, which is to start at once; of sixteen, two.
    expect(ladderOf(system(2), 16, 400)[0]?.candidate.name).toBe('threshold(1,2)');
    expect(ladderOf(system(2), 2, 400).map(({ candidate: { name } }) => name)).toEqual([
      'threshold(2,1)',
      'take-turns(1,1)',
    ]);
    expect(ladderOf(system(2), 1, 400)).toEqual([]);
    expect(ladderOf(system(1), 8, 400)).toEqual([]);
  });

  it('gives its policies the ceiling of the others', () => {
    for (const { candidate: one } of ladderOf(system(2), 8, 400, 90))
      for (const policy of one.policies) expect(policy.maxWaitMs).toBe(90);
  });

  it('has no thresholds with which nobody could start, and none twice', () => {
    const systems = fc.integer({ min: 2, max: 4 }).chain((numModels) =>
      fc.record({
        spec: fc
          .array(fc.integer({ min: 1, max: 3 }), { minLength: numModels, maxLength: numModels })
          .map((replicas) => system(numModels, replicas)),
        alive: fc.integer({ min: 2, max: 64 }),
      }),
    );
    fc.assert(
      fc.property(systems, ({ spec, alive }) => {
        const rungs = ladderOf(spec, alive, 400);
        expect(new Set(rungs.map((rung) => rung.candidate.name)).size).toBe(rungs.length);
        for (const { candidate: one } of rungs.filter(({ candidate: { name } }) =>
          name.startsWith('threshold'),
        )) {
          const rows = one.policies.map(({ threshold }) => threshold as number);
          const held = rows.reduce((sum, count, i) => sum + (count - 1) * (spec.replicas?.[i] ?? 1), 0);
          expect(held).toBeLessThan(alive);
        }
      }),
    );
  });
});

describe('trials where the prediction is wrong', () => {
  const predicted = [
    candidate('look-ahead', 400),
    candidate('threshold(1,3)', 398, 'threshold'),
    candidate('eager', 380, 'eager'),
  ];

  /** What ran in each tick of 50 ms, with true rates that scatter by `noise` (relative) from one tick to the next. */
  function run(
    rates: Record<string, number>,
    seconds: number,
    noise: number,
    seed: number,
    alive = 8,
  ): string[] {
    const trials = new Trials(predicted, Infinity, undefined, ladderOf(system(2), alive, 400));
    let tokens = 0;
    return Array.from({ length: seconds * 20 }, (_, position) => {
      const { name } = trials.running;
      const draw = uniform({ seed, position, model: 1, purpose: 'simulation' }) - 0.5;
      tokens += ((rates[name] ?? 250) * (1 + noise * Math.sqrt(12) * draw)) / 20;
      trials.tick(position * 50, tokens);
      return name;
    });
  }
  const shareOf = (ran: readonly string[], name: string): number =>
    ran.filter((one) => one === name).length / ran.length;

  it.each(['threshold(1,2)', 'threshold(4,4)', 'take-turns(4,1)'])(
    'end at the best in truth, which nobody predicts: %s',
    (best) => {
      for (const seed of [1, 2, 3]) {
        const ran = run({ 'look-ahead': 300, [best]: 345 }, 160, 0.3, seed); // 120 windows
        expect(shareOf(ran.slice(-600), best)).toBeGreaterThan(0.9);
      }
    },
  );

  it('find it within 40 windows where it is much better', () => {
    const ran = run(
      { 'look-ahead': 300, 'threshold(1,3)': 290, eager: 280, 'threshold(4,4)': 400 },
      56,
      0.2,
      1,
    );
    expect(shareOf(ran.slice(-100), 'threshold(4,4)')).toBe(1);
  });

  it('never leave the predictions where these hold, which costs next to nothing', () => {
    const rates: Record<string, number> = { 'look-ahead': 400, 'threshold(1,3)': 398, eager: 380 };
    const ran = run(rates, 1000, 0.3, 1);
    expect(shareOf(ran.slice(4000), 'threshold(4,4)')).toBeLessThan(0.005);
    const loss = ran.reduce((sum, name) => sum + 1 - (rates[name] ?? 250) / 400, 0) / ran.length;
    expect(loss).toBeLessThan(0.005);
  });

  it('measure what lies near to starting at once only while they are in doubt', () => {
    const few = 'threshold(1,2)'; // an eighth of 16
    expect(shareOf(run({ 'look-ahead': 300, [few]: 330 }, 240, 0.3, 1, 16).slice(-600), few)).toBeGreaterThan(
      0.9,
    );
    const confirmed = run(
      { 'look-ahead': 400, 'threshold(1,3)': 398, eager: 380, [few]: 396 },
      240,
      0.3,
      1,
      16,
    );
    expect(shareOf(confirmed, few)).toBe(0);
    expect(shareOf(confirmed, 'threshold(1,4)')).toBeGreaterThan(0);
  });
});
