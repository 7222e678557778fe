import { describe, expect, it } from 'vitest';
import { SystemClock } from '../../../core/system-clock.ts';

const clock = new SystemClock();
const fired = (delayMs: number) => new Promise<void>((resolve) => void clock.setTimer(delayMs, resolve));

describe('SystemClock', () => {
  it('is monotonic, and counts from the epoch beside that', async () => {
    const before = clock.nowMs();
    await fired(0);
    expect(clock.nowMs()).toBeGreaterThanOrEqual(before);
    expect(Math.abs(clock.epochMs() - Date.now())).toBeLessThan(60_000);
  });

  it('never fires synchronously, whatever the delay', async () => {
    for (const delayMs of [0, -5, NaN, 1]) {
      let hasFired = false;
      const done = new Promise<void>((resolve) => {
        clock.setTimer(delayMs, () => {
          hasFired = true;
          resolve();
        });
      });
      expect(hasFired).toBe(false);
      await done;
    }
  });

  it('fires no cancelled timer, and cancelling twice or late is harmless', async () => {
    let count = 0;
    const cancelled = clock.setTimer(0, () => (count += 1));
    cancelled.cancel();
    cancelled.cancel();
    const late = clock.setTimer(0, () => (count += 10));
    await fired(2);
    late.cancel();
    expect(count).toBe(10);
  });

  it('does not take a delay beyond 2^31 ms for "at once", as setTimeout would', async () => {
    let hasFired = false;
    const timers = [2 ** 31, 1e12, Infinity].map((delayMs) =>
      clock.setTimer(delayMs, () => (hasFired = true)),
    );
    await fired(5);
    await fired(5);
    for (const timer of timers) timer.cancel();
    expect(hasFired).toBe(false);
  });

  it('runs afterInstant after the current callback, before promises go on and sockets are written, in order', async () => {
    const order: string[] = [];
    await new Promise<void>((resolve) => {
      setImmediate(() => {
        setImmediate(() => {
          order.push('turn');
          resolve();
        });
        void Promise.resolve().then(() => order.push('microtask'));
        clock.afterInstant(() => order.push('first'));
        clock.afterInstant(() => order.push('second'));
        order.push('now');
      });
    });
    expect(order).toEqual(['now', 'first', 'second', 'microtask', 'turn']);
  });
});
