import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Timer } from '../../../core/clock.ts';
import { SystemClock } from '../../../core/system-clock.ts';
import { AlarmClock, SimulatedDevice, type Alarm } from '../../../engine/simulated/index.ts';
import { VirtualClock } from '../../../simulation/index.ts';

/** In microseconds: what one look at the clock takes. */
const POLL_US = 10;

/** Virtual time in which a turn of the event loop takes 10 µs, and an alarm that rings so much after its time. */
class CoarseWorld {
  readonly exact = new VirtualClock();
  readonly alarm: Alarm;
  numRings = 0;

  constructor(lateMs: () => number) {
    let set: Timer | undefined;
    this.alarm = {
      set: (delayMs, onRing) => {
        set?.cancel();
        set = this.exact.setTimer(delayMs + lateMs(), () => {
          this.numRings += 1;
          onRing();
        });
      },
      close: () => Promise.resolve(),
    };
  }

  clock(leadMs: number): AlarmClock {
    const { exact } = this;
    const coarse = {
      nowMs: () => exact.nowMs(),
      epochMs: () => exact.epochMs(),
      setTimer: () => {
        throw new Error('the timers of the process are too coarse');
      },
      afterInstant: () => {
        throw new Error('polling there would keep I/O from happening');
      },
    };
    const nextTurn = (callback: () => void): void => void exact.setTimer(POLL_US / 1000, callback);
    return new AlarmClock(coarse, { alarm: this.alarm, leadMs, nextTurn });
  }
}

describe('AlarmClock', () => {
  it('calls every timer that is not cancelled once, in order, never early, and late by a poll at most', () => {
    const timers = fc.array(fc.record({ delayUs: fc.nat(20_000), isCancelled: fc.boolean() }), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(timers, fc.infiniteStream(fc.nat(800)), (wanted, lateUs) => {
        const world = new CoarseWorld(() => (lateUs.next().value ?? 0) / 1000);
        const clock = world.clock(0.8);
        const fired: { delayUs: number; atUs: number }[] = [];
        for (const { delayUs, isCancelled } of wanted) {
          const timer = clock.setTimer(delayUs / 1000, () => {
            fired.push({ delayUs, atUs: Math.round(clock.nowMs() * 1000) });
          });
          if (isCancelled) timer.cancel();
        }
        expect(fired).toEqual([]);
        while (world.exact.step());
        const due = wanted.filter(({ isCancelled }) => !isCancelled).map(({ delayUs }) => delayUs);
        expect(fired.map(({ delayUs }) => delayUs)).toEqual(due.sort((a, b) => a - b));
        for (const { delayUs, atUs } of fired) {
          expect(atUs).toBeGreaterThanOrEqual(delayUs);
          expect(atUs).toBeLessThanOrEqual(delayUs + POLL_US);
        }
      }),
    );
  });

  it('does not add up what its alarm is late: a chain of simulated steps ends when its sum says', () => {
    const world = new CoarseWorld(() => 0.3);
    const clock = world.clock(0.8);
    const device = new SimulatedDevice(clock);
    let left = 100;
    const start = (): void => {
      left -= 1;
      if (left >= 0) device.run(6.3, start);
    };
    start();
    while (world.exact.step());
    expect(clock.nowMs() - 630).toBeLessThanOrEqual((100 * POLL_US) / 1000 + 1e-6);
    expect(world.numRings).toBe(100);
  });

  it('fires over its thread, and not after it is closed', async () => {
    const system = new SystemClock();
    const clock = new AlarmClock(system);
    const startedMs = system.nowMs();
    await new Promise<void>((resolve) => void clock.setTimer(5, resolve));
    expect(system.nowMs() - startedMs).toBeGreaterThanOrEqual(5);
    let isFired = false;
    clock.setTimer(1, () => (isFired = true));
    await clock.close();
    await new Promise<void>((resolve) => void system.setTimer(20, resolve));
    expect(isFired).toBe(false);
  });
});
