import type { Clock, Timer } from './clock.ts';

/** Longest delay that `setTimeout` keeps; beyond it Node fires at once. */
const MAX_DELAY_MS = 2_147_483_647;

/**
 * The {@link Clock} of a real process. `afterInstant` runs when the present callback of the event loop is over, with all
 * messages that one read of a socket brought: before promises continue, and before what was published is written to the
 * socket. A turn of the event loop in between would let the next step wait for other processes that those messages wake.
 */
export class SystemClock implements Clock {
  nowMs(): number {
    return performance.now();
  }

  epochMs(): number {
    return Date.now();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const delay = Number.isNaN(delayMs) ? 0 : Math.min(Math.max(0, delayMs), MAX_DELAY_MS);
    const handle = setTimeout(callback, delay);
    return { cancel: () => clearTimeout(handle) };
  }

  afterInstant(callback: () => void): void {
    process.nextTick(callback);
  }
}
