import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import type { Candidate } from '../../../scheduling/planner/index.ts';
import { Arm } from '../../../scheduling/tuner/arm.ts';
import { Trials } from '../../../scheduling/tuner/trials.ts';
import { candidate } from './support/candidate.ts';

describe('an arm', () => {
  it('has the mean and the variance of its windows, and forgets those of long ago', () => {
    const arm = new Arm(candidate('a', 400));
    for (const rate of [10, 12, 14]) arm.observe(rate);
    expect(arm.mean).toBeCloseTo(12);
    expect(arm.variance).toBeCloseTo(4 / 3);
    for (let i = 0; i < 2000; i += 1) arm.observe(20);
    expect(arm.mean).toBeGreaterThan(19.99);
    expect(arm.variance).toBeLessThan(0.01);
  });
});

describe('trials', () => {
  /** Runs for `seconds` where each candidate has a true rate; returns the share of time of each. */
  const run = (
    candidates: Candidate[],
    rates: Record<string, number>,
    seconds: number,
  ): { trials: Trials; shares: Record<string, number> } => {
    const trials = new Trials(candidates);
    const shares: Record<string, number> = {};
    let tokens = 0;
    for (let step = 0; step < seconds * 20; step += 1) {
      const name = trials.running?.name ?? '';
      const noise = 1 + 0.3 * (uniform({ seed: 1, position: step, model: 1, purpose: 'simulation' }) - 0.5);
      tokens += ((rates[name] ?? 0) * noise) / 20;
      shares[name] = (shares[name] ?? 0) + 1 / (seconds * 20);
      trials.tick(step * 50, tokens);
    }
    return { trials, shares };
  };

  it('cost little while the prediction holds', () => {
    const candidates = [
      candidate('a', 400),
      candidate('b', 398),
      candidate('c', 380),
      candidate('e', 250, 'eager'),
    ];
    const { shares } = run(candidates, { a: 400, b: 398, c: 380, e: 250 }, 2000);
    // Which of two that are as good is taken does not matter.
    expect((shares['c'] ?? 0) + (shares['e'] ?? 0)).toBeLessThan(0.035);
    expect(shares['b']).toBeGreaterThan(0);
    expect(shares['e']).toBeGreaterThan(0); // always known, however bad the prediction
    const loss = (shares['b'] ?? 0) * 0.005 + (shares['c'] ?? 0) * 0.05 + (shares['e'] ?? 0) * 0.375;
    expect(loss).toBeLessThan(0.004);
  });

  it('find out that another one is better, and stay with it', () => {
    const candidates = [candidate('a', 400), candidate('b', 398), candidate('e', 385, 'eager')];
    const { trials, shares } = run(candidates, { a: 360, b: 362, e: 396 }, 2500);
    expect(trials.measured).toBeGreaterThan(390);
    expect(shares['e']).toBeGreaterThan(0.5);
  });

  it('never try what exceeds the bound on the delay, however fast it is', () => {
    const slow = { ...candidate('a', 400), p99AdmissionMs: 8 };
    const fast = { ...candidate('b', 410), p99AdmissionMs: 30 };
    const trials = new Trials([slow, fast], 10);
    const names = new Set<string | undefined>();
    for (let i = 0; i < 20_000; i += 1) {
      trials.tick(i * 50, i * (trials.running?.name === 'b' ? 21 : 20));
      names.add(trials.running?.name);
    }
    expect(names).toEqual(new Set(['a']));
  });

  it('say nothing of windows that something interrupted', () => {
    const trials = new Trials([candidate('a', 400)]);
    for (let i = 0; i < 100; i += 1) {
      trials.tick(i * 1000, i * 400);
      trials.interrupt();
    }
    expect(trials.measured).toBeUndefined();
  });
});
