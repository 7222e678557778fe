import type { Clock, Timer } from '../../core/clock.ts';

/** A clock that stands still until a test moves it; timers fire in order of their time. */
export class ManualClock implements Clock {
  private now = 1_000;
  private timers: { atMs: number; callback: () => void; cancelled: boolean }[] = [];

  nowMs(): number {
    return this.now;
  }

  epochMs(): number {
    return 1_700_000_000_000 + this.now;
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer = { atMs: this.now + Math.max(0, delayMs || 0), callback, cancelled: false };
    this.timers.push(timer);
    return { cancel: () => void (timer.cancelled = true) };
  }

  afterInstant(callback: () => void): void {
    this.setTimer(0, callback);
  }

  /** Timers still to fire. */
  get numPending(): number {
    return this.timers.filter(({ cancelled }) => !cancelled).length;
  }

  advance(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const due = this.timers
        .filter((timer) => !timer.cancelled && timer.atMs <= end)
        .sort((a, b) => a.atMs - b.atMs)[0];
      this.timers = this.timers.filter((timer) => !timer.cancelled && timer !== due);
      if (due === undefined) break;
      this.now = Math.max(this.now, due.atMs);
      due.callback();
    }
    this.now = end;
  }
}
