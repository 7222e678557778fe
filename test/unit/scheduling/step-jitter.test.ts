import { describe, expect, it } from 'vitest';
import { StepTimes } from '../../../scheduling/estimate/step-times.ts';

describe('the jitter of step times', () => {
  /** `isLong` tells which steps take 80 instead of 10 ms. */
  const jitterOf = (isLong: (i: number) => boolean): number => {
    const times = new StepTimes();
    for (let i = 0; i < 100; i += 1)
      times.observe({ rows: 2, tokens: 2, ms: isLong(i) ? 80 : 10, overlapMs: 0 });
    return times.jitter;
  };

  it('is not what a single pause makes', () => {
    expect(jitterOf((i) => i === 90)).toBeLessThan(0.01);
  });

  it('is what many pauses make', () => {
    expect(jitterOf((i) => i % 4 === 0)).toBeGreaterThan(0.1);
  });
});
