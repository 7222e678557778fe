import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import { Level } from '../../../scheduling/tuner/level.ts';
import { luckBetween, LuckControl, type Work } from '../../../scheduling/tuner/luck.ts';
import { Trials } from '../../../scheduling/tuner/trials.ts';
import { candidate } from './support/candidate.ts';

const draw = (seed: number, position: number, model = 1): number =>
  uniform({ seed, position, model, purpose: 'simulation' }) - 0.5;

describe('luck', () => {
  it('is what was done per token of an answer, and none without tokens', () => {
    const before: Work = { answerTokens: 100, ownTokens: 90, fedTokens: 200 };
    const now: Work = { answerTokens: 200, ownTokens: 170, fedTokens: 350 };
    expect(luckBetween(before, now)).toEqual({ own: 0.8, fed: 1.5 });
    expect(luckBetween(before, before)).toEqual({ own: 0, fed: 0 });
  });

  it('moves the rate by slopes that are found from windows that scatter', () => {
    const control = new LuckControl();
    expect(control.effect({ own: 0.1, fed: 1 })).toBe(0);
    for (let k = 0; k < 300; k += 1) {
      const off = { own: 0.06 * draw(1, k), fed: 0.4 * draw(2, k) };
      control.observe(3 * off.own - 0.2 * off.fed + 0.1 * draw(3, k), off);
    }
    expect(Math.abs(control.effect({ own: 1, fed: 0 }) - 3)).toBeLessThan(0.4);
    expect(Math.abs(control.effect({ own: 0, fed: 1 }) + 0.2)).toBeLessThan(0.06);
    const known = control.effect({ own: 1, fed: 0 });
    control.observe(-1.5, { own: -0.4, fed: 0 }); // another load
    control.observe(NaN, { own: 0.1, fed: 0 });
    control.observe(-Infinity, { own: 0.1, fed: 0 });
    expect(control.effect({ own: 1, fed: 0 })).toBe(known);
  });

  it('makes no slope of a window or two', () => {
    const control = new LuckControl();
    control.observe(0.1, { own: 0.002, fed: 0.01 });
    expect(Math.abs(control.effect({ own: 0.002, fed: 0.01 }))).toBeLessThan(0.02);
  });

  it('is taken out of what is compared with the best one', () => {
    const rate = (own: number): number => 400 * Math.exp(4 * (own - 0.9));
    const level = new Level();
    expect(level.isKnown).toBe(false);
    for (let k = 1; k <= 60; k += 1) {
      const own = 0.9 + 0.05 * draw(4, k);
      level.observe(rate(own), { own, fed: 1.2 }, k);
    }
    for (const own of [0.86, 0.9, 0.94])
      expect(level.shareOf(0.9 * rate(own), { own, fed: 1.2 })).toBeCloseTo(0.9, 2);
    level.scale(2);
    expect(level.shareOf(rate(0.9), { own: 0.9, fed: 1.2 })).toBeCloseTo(0.5, 2);
    // What is known of luck is known under the next plan too.
    const next = new Level(level);
    expect(next.isKnown).toBe(false);
    next.observe(rate(0.86), { own: 0.86, fed: 1.2 }, 1);
    expect(next.shareOf(rate(0.94), { own: 0.94, fed: 1.2 })).toBeCloseTo(1, 1);
  });
});

describe('trials that know luck', () => {
  /** Mean share of the best that runs after 20 s, where all are predicted alike and answers are hard or easy by the second. */
  const gained = (knowsLuck: boolean): number => {
    const rates: Record<string, number> = { a: 1960, b: 2040, c: 1920, d: 1990 };
    const candidates = Object.keys(rates).map((name) => candidate(name, 2600));
    const seeds = Array.from({ length: 60 }, (_, seed) => {
      const trials = new Trials(candidates);
      const work: Work = { answerTokens: 0, ownTokens: 0, fedTokens: 0 };
      let [tokens, late] = [0, 0];
      for (let k = 1; k <= 1000; k += 1) {
        const own = 0.94 + 0.12 * draw(seed, Math.floor(k / 4));
        const added = (rates[trials.running.name] ?? 0) * Math.exp(4 * (own - 0.94)) * 0.05;
        tokens += added;
        work.answerTokens += added;
        work.ownTokens += added * own;
        work.fedTokens += added * 1.3;
        if (k > 400) late += (rates[trials.running.name] ?? 0) / 2040 / 600;
        trials.tick(k * 50, tokens, knowsLuck ? { ...work } : undefined);
      }
      return late;
    });
    return seeds.reduce((sum, share) => sum + share, 0) / seeds.length;
  };

  it('find the best one sooner', () => {
    const [blind, knowing] = [gained(false), gained(true)];
    expect(1 - knowing).toBeLessThan(0.3 * (1 - blind));
    expect(knowing).toBeGreaterThan(0.998);
  });
});
