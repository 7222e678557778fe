import type { Clock, Timer } from './clock.ts';

/** Longest delay that `setTimeout` keeps; beyond it Node fires at once. */
const MAX_DELAY_MS = 2_147_483_647;

/** The {@link Clock} of a real process. `afterInstant` runs after the I/O events that are already queued. */
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
    setImmediate(callback);
  }
}
