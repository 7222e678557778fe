import { describe, expect, it } from 'vitest';
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
