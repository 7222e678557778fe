import { describe, expect, it } from 'vitest';
import { Dwell } from '../../../scheduling/tuner/dwell.ts';
import { Lasting } from '../../../scheduling/tuner/lasting.ts';
import { SolveBudget } from '../../../scheduling/tuner/solve-budget.ts';

describe('when plans are made and changed', () => {
  it('takes a twentieth of a core in the long run, and four plans at once where they are needed', () => {
    const budget = new SolveBudget();
    const ends: number[] = [];
    for (let nowMs = 0; nowMs < 400_000; nowMs += 100) {
      if (!budget.isAllowed(nowMs)) continue;
      nowMs += 2000;
      budget.ended(nowMs, 2000, true);
      ends.push(nowMs);
    }
    expect(ends.slice(0, 4)).toEqual([2000, 8000, 14_000, 20_000]);
    expect(ends.length).toBeGreaterThan(10);
    expect(ends.length).toBeLessThan(14);
  });

  it('takes ever less while plans change nothing, but not where the load is another', () => {
    const budget = new SolveBudget();
    const ends: number[] = [];
    for (let nowMs = 0; nowMs < 4_000_000; nowMs += 100) {
      const isUrgent = nowMs >= 3_600_000;
      if (!budget.isAllowed(nowMs, isUrgent)) continue;
      nowMs += 2000;
      budget.ended(nowMs, 2000, true);
      budget.judged(ends.length === 0);
      ends.push(nowMs);
    }
    const pauses = ends.slice(1).map((end, i) => Math.round((end - (ends[i] ?? 0)) / 10_000) * 10);
    // Seconds: one plan of consequence, then 20, 40 … times the two that a plan takes; the last ones are urgent.
    expect(pauses.slice(0, 7)).toEqual([10, 40, 80, 160, 320, 640, 640]);
    expect(pauses.at(-1)).toBeLessThanOrEqual(50);
  });

  it('a plan stays for a second, the next for two, where only step times wander; another load ends that', () => {
    const dwell = new Dwell();
    const starts: number[] = [];
    for (let nowMs = 0; nowMs < 200_000; nowMs += 100) {
      if (!dwell.isOver(nowMs, false)) continue;
      dwell.begin(nowMs, false);
      starts.push(nowMs / 1000);
    }
    expect(starts.slice(0, 8)).toEqual([0, 1, 3, 7, 15, 31, 61, 91]);
    expect(dwell.isOver(200_000, true)).toBe(true);
    dwell.begin(200_000, true);
    expect(dwell.isOver(200_900, false)).toBe(false);
    expect(dwell.isOver(201_000, false)).toBe(true);
  });

  it('another load must last longer where plans for it did not last, and less long again where they do', () => {
    const lasting = new Lasting();
    let nowMs = 10_000;
    /** Time until the load counts as another one. */
    const needed = (isFar = false): number => {
      const startMs = nowMs;
      while (!lasting.isLong(nowMs, isFar)) nowMs += 10;
      return nowMs - startMs;
    };
    const lengths = Array.from({ length: 6 }, () => {
      const length = needed();
      lasting.changed(nowMs, true);
      return length;
    });
    expect(lengths).toEqual([150, 150, 300, 600, 1200, 2400]);
    lasting.ended();
    expect(needed(true)).toBe(150);
    lasting.ended();
    nowMs += 3000;
    expect(needed()).toBe(2400);
    lasting.changed(nowMs, true);
    expect(needed()).toBe(1200);
    lasting.ended();
    nowMs += 500;
    expect(needed()).toBe(1200); // what was before does not count
  });
});
