import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import type { Candidate } from '../../../scheduling/planner/index.ts';
import { Arm } from '../../../scheduling/tuner/arm.ts';
import { shareOf } from '../../../scheduling/tuner/next-trial.ts';
import { RateMean } from '../../../scheduling/tuner/rate-mean.ts';
import { Trials } from '../../../scheduling/tuner/trials.ts';
import { WindowNoise } from '../../../scheduling/tuner/window-noise.ts';
import { candidate, rung } from './support/candidate.ts';

describe('a mean of rates', () => {
  it('has the mean and the variance of its values, and forgets those of long ago', () => {
    const rate = new RateMean();
    for (const value of [10, 12, 14]) rate.observe(value);
    expect(rate.mean).toBeCloseTo(12);
    expect(rate.variance).toBeCloseTo(4 / 3);
    const copy = new RateMean();
    copy.set(rate.mean, rate.variance, rate.numValues);
    expect([copy.mean, copy.variance, copy.numValues]).toEqual([rate.mean, rate.variance, 3]);
    for (let i = 0; i < 3000; i += 1) rate.observe(i % 2 === 0 ? 19 : 21);
    copy.set(rate.mean, rate.variance, rate.numValues);
    expect(copy.variance).toBeCloseTo(rate.variance, 12);
    for (let i = 0; i < 2000; i += 1) rate.observe(20);
    expect(rate.mean).toBeGreaterThan(19.99);
    expect(rate.variance).toBeLessThan(0.01);
  });
});

describe('an arm', () => {
  it('is less certain beside another best one, whose own measurement is uncertain too', () => {
    const arm = new Arm(candidate('arm', 100));
    const best = new Arm(candidate('best', 100));
    arm.share.set(0.9, 0.01, 10);
    best.share.set(1.2, 0.02, 10);
    arm.rebase(best, false);
    expect(arm.share.mean).toBeCloseTo(0.75);
    expect(arm.share.variance).toBeCloseTo((0.01 + 0.75 ** 2 * 0.02) / 1.2 ** 2);
    const former = new Arm(candidate('former', 100));
    former.rebase(best, true);
    expect(former.share.mean).toBeCloseTo(1 / 1.2);
    expect(former.share.variance).toBeCloseTo(0.02 / 1.2 ** 4);
  });
});

describe('what an arm gives as far as is known', () => {
  it('is believed beside one that is predicted alike, even where the predictions are off', () => {
    const best = new Arm(candidate('eager', 400, 'eager'));
    const alike = new Arm(candidate('look-ahead', 394));
    const far = new Arm(candidate('threshold(1,5)', 380, 'threshold'));
    const onLadder = new Arm(candidate('threshold(1,2)', 400, 'threshold'), rung('threshold(1,2)', 0, 400));
    const arms = [best, alike, far, onLadder];
    for (const arm of arms) arm.share.set(1.044, 0.001, 17);
    const state = { arms, best, noise: 0.11 ** 2, numBestWindows: 60, isInDoubt: true };
    const isAhead = (arm: Arm): boolean => {
      const { mean, error } = shareOf(arm, state);
      return mean - 1 > error;
    };
    // The luck of one in five such windows makes no holding policy the best; of others nothing better is known.
    expect([alike, far, onLadder].map(isAhead)).toEqual([false, true, true]);
    for (const arm of arms) arm.share.set(1.08, 0.001, 17);
    expect(isAhead(alike)).toBe(true);
  });
});

describe('the noise of windows', () => {
  it('is the variance of windows about the means of those before, a tenth at first', () => {
    const noise = new WindowNoise();
    expect(Math.sqrt(noise.variance)).toBeCloseTo(0.1);
    const draw = (k: number): number =>
      uniform({ seed: 3, position: k, model: 1, purpose: 'simulation' }) - 0.5;
    for (let arm = 0; arm < 500; arm += 1) {
      const mean = new RateMean();
      for (let k = 0; k < 4; k += 1) {
        const value = 1 + 0.4 * draw(arm * 4 + k);
        if (k > 0) noise.observe(value - mean.mean, k);
        mean.observe(value);
      }
    }
    expect(noise.variance / (0.4 ** 2 / 12)).toBeGreaterThan(0.7);
    expect(noise.variance / (0.4 ** 2 / 12)).toBeLessThan(1.3);
  });
});

describe('trials', () => {
  /** Runs for `seconds` where each candidate has a true rate; returns the share of time of each. */
  const run = (
    candidates: Candidate[],
    rates: Record<string, number>,
    seconds: number,
    seed = 1,
  ): { trials: Trials; shares: Record<string, number> } => {
    const trials = new Trials(candidates);
    const shares: Record<string, number> = {};
    let tokens = 0;
    for (let step = 0; step < seconds * 20; step += 1) {
      const name = trials.running.name;
      const noise = 1 + 0.3 * (uniform({ seed, position: step, model: 1, purpose: 'simulation' }) - 0.5);
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

  it('look boldly at first where all predictions are off, and timidly once the differences are known', () => {
    const candidates = [
      candidate('a', 400),
      candidate('h', 399, 'threshold-hold'),
      candidate('e', 395, 'eager'),
    ];
    const rates = { a: 300, h: 288, e: 288 };
    const early = run(candidates, rates, 20);
    const late = run(candidates, rates, 3000);
    const tried = ({ shares }: typeof early): number => 1 - (shares['a'] ?? 0);
    // Meanwhile another one may have been taken for the best.
    expect(tried(early)).toBeGreaterThan(0.12);
    expect(early.trials.chosen.name).toBe('a');
    expect(tried(late)).toBeLessThan(0.05);
    const losses = Array.from({ length: 10 }, (_, seed) => {
      const { shares } = run(candidates, { a: 400, h: 399, e: 395 }, 60, seed);
      return (shares['h'] ?? 0) * 0.0025 + (shares['e'] ?? 0) * 0.0125;
    });
    const lost = losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
    expect(lost).toBeLessThan(0.003);
  });

  it('find a good one of nine within a minute where predictions are wrong and rates scatter by a tenth', () => {
    const candidates = [
      candidate('threshold(1,5)', 168, 'threshold'),
      candidate('threshold-hold(1,5)', 166, 'threshold-hold'),
      candidate('look-ahead', 161),
      candidate('eager', 147, 'eager'),
    ];
    const names = ['threshold(1,2)', 'threshold(1,4)', 'threshold(2,4)', 'threshold(4,4)', 'take-turns(4,1)'];
    const ladder = names.map((name, place) => rung(name, place, 168));
    const truth = [118, 126, 134, 140, 133, 123, 119, 112, 129];
    const rates = Object.fromEntries(
      [...candidates, ...ladder.map((one) => one.candidate)].map(({ name }, i) => [name, truth[i] ?? 0]),
    );
    const gained = Array.from({ length: 40 }, (_, seed) => {
      const trials = new Trials(candidates, Infinity, undefined, ladder);
      let [tokens, late] = [0, 0];
      for (let k = 1; k <= 1600; k += 1) {
        const rate = rates[trials.running.name] ?? 0;
        // Twelve uniform draws a window or so: a standard deviation of 10 % of a window's rate.
        const noise = 1.2 * (uniform({ seed, position: k, model: 1, purpose: 'simulation' }) - 0.5);
        tokens += rate * (1 + noise) * 0.05;
        if (k > 1200) late += rate / 140 / 400;
        trials.tick(k * 50, tokens);
      }
      return late;
    });
    const mean = gained.reduce((sum, share) => sum + share, 0) / gained.length;
    expect(mean).toBeGreaterThan(0.955);
    expect([...gained].sort((a, b) => a - b)[4]).toBeGreaterThan(0.92);
  });

  it('try seldom what is a little behind, while that is all that is known of it', () => {
    const candidates = [candidate('a', 400), candidate('b', 400, 'eager'), candidate('c', 400, 'threshold')];
    const tried = Array.from({ length: 30 }, (_, seed) => {
      const trials = new Trials(candidates);
      const shares = { a: 0, b: 0, c: 0 };
      let tokens = 0;
      for (let k = 1; k <= 1200; k += 1) {
        const name = trials.running.name as keyof typeof shares;
        const noise = 0.8 * (uniform({ seed, position: k, model: 1, purpose: 'simulation' }) - 0.5);
        tokens += (name === 'a' ? 300 : 294) * (1 + noise) * 0.05;
        if (k > 200) shares[name] += 1 / 1000;
        trials.tick(k * 50, tokens);
      }
      return trials.chosen.name === 'a' ? 1 - shares.a : NaN;
    }).filter((share) => !Number.isNaN(share));
    expect(tried.length).toBeGreaterThan(20);
    expect([...tried].sort((x, y) => x - y)[Math.floor(tried.length / 2)]).toBeLessThan(0.27);
  });

  it('leave aside at once what is far worse, however doubtful the predictions are', () => {
    const candidates = [
      candidate('a', 400),
      candidate('h', 399, 'threshold-hold'),
      candidate('e', 395, 'eager'),
    ];
    const { shares } = run(candidates, { a: 300, h: 290, e: 150 }, 120);
    expect(shares['h']).toBeGreaterThan(0.03);
    expect(shares['e']).toBeLessThan(0.06);
  });

  it('go on where the plan before left off: its kinds were measured to be off by as much', () => {
    const first = [candidate('look-ahead(1)', 400), candidate('threshold(1,3)', 398, 'threshold')];
    const known = run(first, { 'look-ahead(1)': 300, 'threshold(1,3)': 350 }, 300).trials;
    expect(known.chosen.name).toBe('threshold(1,3)');
    const next = [candidate('look-ahead(0.7)', 500), candidate('threshold(1,4)', 490, 'threshold')];
    const successor = new Trials(next, Infinity, known);
    expect(successor.running.name).toBe('threshold(1,4)');
    expect(successor.measured).toBeUndefined(); // rates of another plan are none of this one
    expect(new Trials(next).running.name).toBe('look-ahead(0.7)');
    expect(new Trials(next, Infinity, successor).running.name).toBe('threshold(1,4)');
    // Where predictions are known to be wrong, what was measured goes before what is predicted.
    const another = [candidate('eager', 510, 'eager'), ...next];
    expect(new Trials(another, Infinity, known).running.name).toBe('threshold(1,4)');
    // What is predicted to be much better than it was can still be better.
    const other = [candidate('look-ahead(0.7)', 800), candidate('threshold(1,4)', 490, 'threshold')];
    expect(new Trials(other, Infinity, known).running.name).toBe('look-ahead(0.7)');
  });

  it('stay with what ran where the next plan prefers another one by a hair, measured or not', () => {
    const before = new Trials([candidate('eager', 400, 'eager'), candidate('look-ahead', 398)]);
    const next = new Trials(
      [candidate('look-ahead', 402), candidate('eager', 401, 'eager')],
      Infinity,
      before,
    );
    expect(next.running.name).toBe('eager');
    for (let k = 1; k < 40; k += 1) next.tick(k * 50, k * 20);
    expect(next.measured).toBeCloseTo(400);
    const far = new Trials(
      [candidate('look-ahead', 420), candidate('eager', 401, 'eager')],
      Infinity,
      before,
    );
    expect(far.running.name).toBe('look-ahead');
  });

  it('measure one of each kind before two of a kind, and eager and look-ahead always', () => {
    const kinds = new Set<string>();
    const names = new Set<string>();
    const candidates = [
      candidate('threshold(1,3)', 400, 'threshold'),
      candidate('threshold-hold(1,3)', 399, 'threshold-hold'),
      candidate('threshold-hold(1,4)', 398, 'threshold-hold'),
      candidate('look-ahead(0.7)', 340),
      candidate('look-ahead', 330),
      candidate('eager', 300, 'eager'),
    ];
    const trials = new Trials(candidates);
    let tokens = 0;
    for (let i = 0; i < 400_000; i += 1) {
      trials.tick(i * 50, (tokens += trials.running.tokensPerSecond / 20));
      names.add(trials.running.name);
      kinds.add(trials.running.policies[0]?.kind ?? '');
    }
    expect(kinds).toEqual(new Set(['threshold', 'threshold-hold', 'look-ahead', 'eager']));
    expect(names.has('look-ahead')).toBe(false);
  });

  it('measure a candidate as well in its first window as in any other, however rarely time is looked at', () => {
    const trials = new Trials([candidate('a', 400), candidate('b', 400)]);
    for (let i = 0; i < 3000; i += 1) {
      trials.tick(i * 270, i * 270 * 0.3);
      if (trials.measured !== undefined) expect(trials.measured).toBeCloseTo(300, 6);
    }
    expect(trials.running.name).toBe('a'); // never better by the way it was measured
  });

  it('never try what exceeds the bound on the delay, however fast it is', () => {
    const slow = { ...candidate('a', 400), p99AdmissionMs: 8 };
    const fast = { ...candidate('b', 410), p99AdmissionMs: 30 };
    const trials = new Trials([slow, fast], 10);
    const names = new Set<string | undefined>();
    for (let i = 0; i < 20_000; i += 1) {
      trials.tick(i * 50, i * (trials.running.name === 'b' ? 21 : 20));
      names.add(trials.running.name);
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
