import type { Clock, Timer } from '../core/clock.ts';
import { EventHeap } from './event-heap.ts';

/** More events than this in one instant mean that two parties answer each other for ever. */
const MAX_EVENTS_PER_INSTANT = 100_000;

/** Where virtual time stands for the wall clock: 2026-01-01T00:00:00Z. */
const EPOCH_MS = 1_767_225_600_000;

interface Afterwards {
  callback: () => void;
  rank: number;
}

/**
 * Time that moves only from event to event, in integer microseconds. Events of one instant run in the order
 * they were set; `afterInstant` callbacks run when no event of that instant is left, one by one in the order of
 * their ranks: what one of them sets off in the same instant happens before the next is called.
 */
export class VirtualClock implements Clock {
  private timeUs = 0;
  private readonly heap = new EventHeap();
  private readonly afterwards: Afterwards[] = [];

  nowMs(): number {
    return this.timeUs / 1000;
  }

  epochMs(): number {
    return EPOCH_MS + this.nowMs();
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const delayUs = delayMs > 0 ? Math.round(delayMs * 1000) : 0;
    return this.heap.push(this.timeUs + delayUs, callback);
  }

  afterInstant(callback: () => void, rank = 0): void {
    const { afterwards } = this;
    let place = afterwards.length;
    while (place > 0 && (afterwards[place - 1]?.rank ?? 0) > rank) place -= 1;
    afterwards.splice(place, 0, { callback, rank });
  }

  /** Runs the next event, or one callback after the instant. False when nothing is left to happen. */
  step(): boolean {
    const nextUs = this.heap.nextTimeUs();
    if (nextUs === this.timeUs || (nextUs !== undefined && this.afterwards.length === 0)) {
      this.timeUs = nextUs;
      this.heap.pop()?.();
      return true;
    }
    const first = this.afterwards.shift();
    first?.callback();
    return first !== undefined;
  }

  /**
   * Runs until `isDone`. Lets promises settle after every `settleEvery` events, so that code that awaits can take
   * part: 1 while actors start and stop, more (the default) while only callbacks work.
   * @throws Error when `limitMs` of virtual time passes first, or nothing is left to happen
   */
  async runUntil(isDone: () => boolean, limitMs: number, settleEvery = 64): Promise<void> {
    const limitUs = this.timeUs + limitMs * 1000;
    let numSteps = 0;
    let instantUs = this.timeUs;
    let instantSteps = 0;
    await settle();
    while (!isDone()) {
      if (!this.step()) {
        await settle();
        if (!isDone() && !this.step()) throw new Error('the simulation stands still');
      }
      numSteps += 1;
      if (numSteps % settleEvery === 0) await settle();
      instantSteps = this.timeUs === instantUs ? instantSteps + 1 : 0;
      instantUs = this.timeUs;
      if (instantSteps > MAX_EVENTS_PER_INSTANT) throw new Error(`time does not pass at ${this.nowMs()} ms`);
      if (this.timeUs > limitUs) throw new Error(`not done after ${limitMs} ms of virtual time`);
    }
  }

  /** Runs for `durationMs` of virtual time. */
  async runFor(durationMs: number): Promise<void> {
    let isOver = false;
    this.setTimer(durationMs, () => {
      isOver = true;
    });
    await this.runUntil(() => isOver, durationMs + 1);
  }
}

/** Lets everything that waits for a promise continue. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
