import type { Clock, Timer } from '../../core/clock.ts';

/** Calls `sweep` every `intervalMs` while there is something to watch; sleeps otherwise. */
export class Sweeper {
  private readonly clock: Clock;
  private readonly intervalMs: number;
  private readonly sweep: (nowMs: number) => boolean;
  private timer: Timer | undefined;
  private isStopped = false;

  /** @param sweep returns whether there is still something to watch */
  constructor(clock: Clock, intervalMs: number, sweep: (nowMs: number) => boolean) {
    this.clock = clock;
    this.intervalMs = intervalMs;
    this.sweep = sweep;
  }

  /** There is something to watch now. */
  wake(): void {
    if (this.timer || this.isStopped) return;
    this.timer = this.clock.setTimer(this.intervalMs, () => {
      this.timer = undefined;
      if (this.sweep(this.clock.nowMs())) this.wake();
    });
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
  }
}
