import { describe, expect, it } from 'vitest';
import type { SystemSpec } from '../../../scheduling/planner/plan.ts';
import { SolvedPlan } from '../../../scheduling/tuner/plan-cache.ts';
import { Trials } from '../../../scheduling/tuner/trials.ts';
import { candidate } from './support/candidate.ts';

const rates: Record<string, number> = { eager: 300, 'threshold(1,3)': 330, 'look-ahead': 306 };
const candidates = [
  candidate('look-ahead', 402),
  candidate('eager', 401, 'eager'),
  candidate('threshold(1,3)', 400, 'threshold'),
];

function measure(trials: Trials, seconds: number): void {
  let tokens = 0;
  for (let k = 1; k <= seconds * 20; k += 1) {
    tokens += (rates[trials.running.name] ?? 0) / 20;
    trials.tick(k * 50, tokens);
  }
}

describe('trials under the next plan', () => {
  it('keep what was measured, in whatever order predictions that are nearly equal come', () => {
    const before = new Trials(candidates);
    measure(before, 120);
    expect(before.running.name).toBe('threshold(1,3)');
    for (const order of [candidates, [...candidates].reverse()]) {
      const next = new Trials(order, Infinity, before);
      expect(next.chosen.name).toBe('threshold(1,3)');
      expect(next.numWindows).toBeGreaterThan(before.numWindows / 2);
    }
  });

  it.each([1, 2])('do not go over to what was lucky in %i windows', (numLucky) => {
    const before = new Trials(candidates);
    let tokens = 0;
    for (let k = 1; before.numWindows < numLucky; k += 1) {
      tokens += (before.isTrial ? 360 : 300) / 20;
      before.tick(k * 50, tokens);
    }
    expect(before.chosen.name).toBe('look-ahead');
    expect(new Trials(candidates, Infinity, before).chosen.name).toBe('look-ahead');
  });

  it('follow a prediction that is better by more than a change costs, unless predictions are known to be wrong', () => {
    const better = [candidate('threshold-hold(1,3)', 450, 'threshold-hold'), ...candidates];
    const wrong = new Trials(candidates);
    measure(wrong, 120);
    expect(new Trials(better, Infinity, wrong).chosen.name).toBe('threshold(1,3)');
    const confirmed = new Trials([candidate('look-ahead', 306), candidate('eager', 300, 'eager')]);
    measure(confirmed, 120);
    const next = [candidate('threshold(1,4)', 330, 'threshold'), candidate('look-ahead', 306)];
    expect(new Trials(next, Infinity, confirmed).chosen.name).toBe('threshold(1,4)');
  });
});

describe('a plan that is found again', () => {
  const system: SystemSpec = {
    routing: [
      [0.7, 0.3],
      [1, 0],
    ],
    commits: [
      [1, 0],
      [1, 1],
    ],
    stepMs: [[6], [24]],
    overlapFactor: 1,
    home: 1,
  };
  const plan = (): SolvedPlan => new SolvedPlan(system, { entries: [{ alive: 8, candidates }] }, 8);
  const measured = (seconds: number): SolvedPlan => {
    const solved = plan();
    const trials = solved.trialsFor(8);
    if (trials) measure(trials, seconds);
    return solved;
  };

  it('goes by the newest measurements of its load, and by its own where the load was another one', () => {
    const [again, since] = [measured(60), measured(40)];
    const old = again.trialsFor(8);
    again.succeed(since, false);
    expect(again.trialsFor(8)).toBe(old);
    again.succeed(since, true);
    expect(again.trialsFor(8)).not.toBe(old);
    expect(again.trialsFor(8)?.chosen.name).toBe(since.trialsFor(8)?.chosen.name);
  });

  it('keeps its own where hardly anything was measured since', () => {
    const again = measured(60);
    const old = again.trialsFor(8);
    again.succeed(measured(3), true);
    expect(again.trialsFor(8)).toBe(old);
  });
});
