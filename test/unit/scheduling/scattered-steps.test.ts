import { describe, expect, it } from 'vitest';
import { StepTimes } from '../../../scheduling/estimate/step-times.ts';
import { stream } from './support/stream.ts';

const stepOf = (ms: number, overlapMs = 0): Parameters<StepTimes['observe']>[0] => {
  return { rows: 1, tokens: 1, ms, overlapMs };
};

// As measured with steps of half a millisecond on two busy cores: a quarter takes half as long again as the median, or far more.
const skewed = (draw: () => number): number => {
  const u = draw();
  return u < 0.75 ? 0.4 + 0.55 * u : u < 0.9 ? 0.8 + 4 * (u - 0.75) : 1.4 + 26 * (u - 0.9);
};

describe('times of steps that scatter widely', () => {
  it('stay where they are although a quarter of the steps takes far longer than usual', () => {
    const draw = stream(23);
    const times = new StepTimes();
    for (let i = 0; i < 400; i += 1) times.observe(stepOf(skewed(draw)));
    const usualMs = times.expectMs(1);
    for (let i = 0; i < 20_000; i += 1) {
      times.observe(stepOf(skewed(draw)));
      expect(Math.abs(times.expectMs(1) / usualMs - 1)).toBeLessThan(0.4);
    }
  });

  it('a lasting change passes within a few dozen steps where they scatter as much', () => {
    const draw = stream(29);
    const times = new StepTimes();
    for (let i = 0; i < 2000; i += 1) times.observe(stepOf(skewed(draw)));
    const beforeMs = times.expectMs(1);
    for (let i = 0; i < 48; i += 1) times.observe(stepOf(4 * skewed(draw)));
    expect(times.expectMs(1) / beforeMs).toBeGreaterThan(3);
    for (let i = 0; i < 48; i += 1) times.observe(stepOf(skewed(draw)));
    expect(times.expectMs(1) / beforeMs).toBeLessThan(1.4);
  });

  it('do not begin with a few steps each time that contention is found to be a little other', () => {
    const draw = stream(31);
    const times = new StepTimes();
    const seen = new Set<number>();
    let before = 0;
    let numLeaps = 0;
    for (let i = 0; i < 4000; i += 1) {
      const isBeside = draw() < 0.5;
      // Contention comes and goes, slowly: enough to read everything anew now and then.
      const factor = 0.75 + 0.12 * Math.sin(i / 150);
      const workMs = skewed(draw);
      const ms = isBeside ? workMs / factor : workMs;
      times.observe(stepOf(ms, isBeside ? ms : 0));
      if (i >= 500) {
        seen.add(times.overlapFactor);
        if (Math.abs(times.expectMs(1) / before - 1) > 0.15) numLeaps += 1;
      }
      before = times.expectMs(1);
    }
    expect(numLeaps).toBeLessThanOrEqual(2);
    expect(Math.max(...seen) - Math.min(...seen)).toBeGreaterThan(0.08);
  });
});
