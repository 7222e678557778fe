import { describe, expect, it } from 'vitest';
import type { Clock, Timer } from '../../../core/clock.ts';
import { SimulatedDevice } from '../../../engine/simulated/index.ts';
import { VirtualClock } from '../../../simulation/index.ts';

/** Runs everything; returns when each named step ended. */
function run(clock: VirtualClock, plan: (log: (name: string) => () => void) => void): Record<string, number> {
  const ends: Record<string, number> = {};
  plan((name) => () => {
    ends[name] = clock.nowMs();
  });
  while (clock.step());
  return ends;
}

describe('SimulatedDevice', () => {
  it('runs steps that do not feel each other at full speed', () => {
    const clock = new VirtualClock();
    const device = new SimulatedDevice(clock);
    const ends = run(clock, (log) => {
      device.run(6, log('a'));
      device.run(27.9, log('b'));
    });
    expect(ends).toEqual({ a: 6, b: 27.9 });
  });

  it('slows both down while two run, and not longer', () => {
    const clock = new VirtualClock();
    const device = new SimulatedDevice(clock, { overlapFactor: 0.5 });
    // a: 0 … 12 (all of it beside b). b: 6 of 10 done by 12, the rest alone.
    const ends = run(clock, (log) => {
      device.run(6, log('a'));
      device.run(10, log('b'));
    });
    expect(ends).toEqual({ a: 12, b: 16 });
  });

  it('counts what was done alone before another one came', () => {
    const clock = new VirtualClock();
    const device = new SimulatedDevice(clock, { overlapFactor: 0.5 });
    const ends = run(clock, (log) => {
      device.run(10, log('a'));
      clock.setTimer(4, () => device.run(20, log('b')));
    });
    expect(ends).toEqual({ a: 16, b: 30 });
  });

  it('ends steps of equal remaining work in one instant, however often rates changed', () => {
    const clock = new VirtualClock();
    const device = new SimulatedDevice(clock, { overlapFactor: 0.66 });
    const ends: number[][] = [[], []];
    let left = 400;
    const short = (): void => {
      ends[0]?.push(clock.nowMs());
      left -= 1;
      if (left > 0) clock.afterInstant(() => device.run(6, short));
    };
    const long = (): void => {
      ends[1]?.push(clock.nowMs());
      if (left > 0) clock.afterInstant(() => device.run(24, long));
    };
    device.run(6, short);
    device.run(24, long);
    while (clock.step());
    expect(ends[1]?.slice(0, 100)).toEqual(ends[0]?.filter((_, i) => i % 4 === 3));
    // No drift: the 400th short step ends when 400 × 6 ms of work are done at 0.66 of the speed.
    expect(ends[0]?.at(-1)).toBeCloseTo((400 * 6) / 0.66, 3);
  });

  it('never ends a step synchronously, however short', () => {
    const device = new SimulatedDevice(new VirtualClock());
    let isOver = false;
    device.run(0, () => {
      isOver = true;
    });
    expect(isOver).toBe(false);
  });

  it('refuses a factor outside (0, 1]', () => {
    for (const overlapFactor of [0, -1, 1.1, NaN])
      expect(() => new SimulatedDevice(new VirtualClock(), { overlapFactor })).toThrow('overlap factor');
  });
});

/** A clock whose timers fire up to a millisecond late, as those of a process do; `afterInstant` takes 10 µs. */
class CoarseClock implements Clock {
  private readonly exact = new VirtualClock();

  nowMs(): number {
    return this.exact.nowMs();
  }

  epochMs(): number {
    return this.exact.epochMs();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const dueMs = Math.ceil(this.nowMs() + delayMs) + 0.5; // the next tick, and what goes before
    return this.exact.setTimer(dueMs - this.nowMs(), callback);
  }

  afterInstant(callback: () => void): void {
    this.exact.setTimer(0.01, callback);
  }

  runAll(): void {
    while (this.exact.step());
  }
}

describe('SimulatedDevice over timers that fire late', () => {
  const meanError = (pollLeadMs: number): number => {
    const clock = new CoarseClock();
    const device = new SimulatedDevice(clock, { pollLeadMs });
    let total = 0;
    let left = 100;
    const start = (): void => {
      const startedMs = clock.nowMs();
      device.run(6.3, () => {
        total += clock.nowMs() - startedMs - 6.3;
        left -= 1;
        if (left > 0) start();
      });
    };
    start();
    clock.runAll();
    return total / 100;
  };

  it('is exact to the length of a poll, and would not be without polling', () => {
    expect(meanError(2)).toBeLessThan(0.011);
    expect(meanError(2)).toBeGreaterThanOrEqual(0);
    expect(meanError(0)).toBeGreaterThan(0.3);
  });
});
