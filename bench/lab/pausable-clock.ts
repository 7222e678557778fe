import type { Clock, Timer } from '../../core/clock.ts';

class PausableTimer implements Timer {
  readonly dueMs: number;
  readonly callback: () => void;
  handle: Timer | undefined;
  private readonly onCancel: (timer: PausableTimer) => void;

  constructor(dueMs: number, callback: () => void, onCancel: (timer: PausableTimer) => void) {
    this.dueMs = dueMs;
    this.callback = callback;
    this.onCancel = onCancel;
  }

  cancel(): void {
    this.handle?.cancel();
    this.onCancel(this);
  }
}

/**
 * A clock that can stand still, timers and all: a system that is measured in turns with others must not notice that
 * the others had theirs.
 */
export class PausableClock implements Clock {
  private readonly base: Clock;
  private readonly timers = new Set<PausableTimer>();
  private pausedMs = 0;
  private pausedAtMs: number | undefined;

  constructor(base: Clock) {
    this.base = base;
  }

  nowMs(): number {
    return (this.pausedAtMs ?? this.base.nowMs()) - this.pausedMs;
  }

  epochMs(): number {
    return this.base.epochMs();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const delay = Number.isNaN(delayMs) ? 0 : Math.max(0, delayMs);
    const timer = new PausableTimer(this.nowMs() + delay, callback, (one) => this.timers.delete(one));
    this.timers.add(timer);
    if (this.pausedAtMs === undefined) this.arm(timer);
    return timer;
  }

  /** Runs even while the clock stands still: it belongs to the instant that has begun. */
  afterInstant(callback: () => void): void {
    this.base.afterInstant(callback);
  }

  pause(): void {
    if (this.pausedAtMs !== undefined) return;
    this.pausedAtMs = this.base.nowMs();
    for (const timer of this.timers) timer.handle?.cancel();
  }

  resume(): void {
    if (this.pausedAtMs === undefined) return;
    this.pausedMs += this.base.nowMs() - this.pausedAtMs;
    this.pausedAtMs = undefined;
    for (const timer of this.timers) this.arm(timer);
  }

  private arm(timer: PausableTimer): void {
    timer.handle = this.base.setTimer(timer.dueMs - this.nowMs(), () => {
      this.timers.delete(timer);
      timer.callback();
    });
  }
}
