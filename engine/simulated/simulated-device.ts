import type { Clock, Timer } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';

export interface DeviceOptions {
  /** Speed of each step while at least two run, in (0, 1]. Default 1: the steps do not feel each other. */
  overlapFactor?: number;
}

interface Running {
  /** The device's work at which this step is done, in milliseconds. */
  endWorkMs: number;
  onEnd: () => void;
}

/** Differences below this belong to the same instant: the virtual clock rounds to microseconds. */
const INSTANT_MS = 0.001;
/** Rounding of sums of step times. */
const WORK_EPSILON_MS = 1e-7;

/**
 * What steps run on. While two or more run here, each goes at `overlapFactor` of its speed. All steps of a device go at
 * the same speed at any time, so one number, the work that each of them has had so far, says when which ends: sums of
 * step times, without drift, and steps that should end together do. Times are those intended, not those at which a late
 * timer woke.
 */
export class SimulatedDevice {
  private readonly clock: Clock;
  private readonly overlapFactor: number;
  private running: Running[] = [];
  private due: Running[] = [];
  private workMs = 0;
  private atMs = 0;
  private timer: Timer | undefined;

  /** @throws TokenrailError `config_invalid` */
  constructor(clock: Clock, options: DeviceOptions = {}) {
    const { overlapFactor = 1 } = options;
    if (!(overlapFactor > 0 && overlapFactor <= 1)) {
      throw new TokenrailError(
        'config_invalid',
        `the overlap factor must be in (0, 1], not ${overlapFactor}`,
        {
          param: 'overlapFactor',
        },
      );
    }
    this.clock = clock;
    this.overlapFactor = overlapFactor;
  }

  /** Runs a step that takes `durationMs` when it is alone. `onEnd` is called once, never synchronously. */
  run(durationMs: number, onEnd: () => void): void {
    this.catchUp();
    this.running.push({ endWorkMs: this.workMs + durationMs, onEnd });
    this.arm();
  }

  private get rate(): number {
    return this.running.length > 1 ? this.overlapFactor : 1;
  }

  private nextEndWorkMs(): number {
    let next = Infinity;
    for (const { endWorkMs } of this.running) next = Math.min(next, endWorkMs);
    return next;
  }

  /** Moves time and work on to now, through the ends that lie before. */
  private catchUp(): void {
    const nowMs = this.clock.nowMs();
    while (this.running.length > 0) {
      const nextMs = this.nextEndWorkMs();
      const endMs = this.atMs + (nextMs - this.workMs) / this.rate;
      if (endMs > nowMs + INSTANT_MS) break;
      this.workMs = nextMs;
      this.atMs = endMs;
      const isOver = ({ endWorkMs }: Running): boolean => endWorkMs <= nextMs + WORK_EPSILON_MS;
      this.due.push(...this.running.filter(isOver));
      this.running = this.running.filter((one) => !isOver(one));
    }
    if (Math.abs(nowMs - this.atMs) <= INSTANT_MS) return; // a step that starts where another ended: no rounding
    if (this.running.length > 0) this.workMs += (nowMs - this.atMs) * this.rate;
    this.atMs = nowMs;
  }

  /** Sets the one timer: to the next end, as it was meant. */
  private arm(): void {
    this.timer?.cancel();
    this.timer = undefined;
    if (this.running.length === 0 && this.due.length === 0) return;
    const endMs =
      this.due.length > 0 ? this.atMs : this.atMs + (this.nextEndWorkMs() - this.workMs) / this.rate;
    this.timer = this.clock.setTimer(Math.max(0, endMs - this.clock.nowMs()), () => this.fire());
  }

  private fire(): void {
    this.catchUp();
    const { due } = this;
    this.due = [];
    this.arm();
    for (const { onEnd } of due) onEnd();
  }
}
