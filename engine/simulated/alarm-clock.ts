import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../core/clock.ts';

/** Wakes this thread at about a given time; `onRing` may come early or late, never synchronously. */
export interface Alarm {
  /** Takes the place of what was set before. @param delayMs from now, ≥ 0 */
  set(delayMs: number, onRing: () => void): void;
  close(): Promise<void>;
}

/** The thread of the alarm needs up to so long to wake this one; the rest is waited for by looking at the clock. */
const LEAD_MS = 0.8;

export interface AlarmClockOptions {
  /** Default: a thread that sleeps. */
  alarm?: Alarm;
  /** How much before the time the alarm is set, in milliseconds. Default 0.8. */
  leadMs?: number;
  /** Calls back after a turn of the event loop. Default `setImmediate`. */
  nextTurn?: (callback: () => void) => void;
}

interface Pending {
  dueMs: number;
  callback: () => void;
}

/**
 * A clock with timers to within microseconds, where those of a process fire up to a millisecond late: for simulated
 * steps in real time. An alarm wakes it shortly before the time; then it asks its clock until the time has come.
 */
export class AlarmClock implements Clock {
  private readonly clock: Clock;
  private readonly alarm: Alarm;
  private readonly leadMs: number;
  private readonly nextTurn: (callback: () => void) => void;
  private readonly pending = new Set<Pending>();
  private isPolling = false;

  constructor(clock: Clock, options: AlarmClockOptions = {}) {
    this.clock = clock;
    this.alarm = options.alarm ?? new AlarmThread();
    this.leadMs = options.leadMs ?? LEAD_MS;
    this.nextTurn = options.nextTurn ?? setImmediate;
  }

  nowMs(): number {
    return this.clock.nowMs();
  }

  epochMs(): number {
    return this.clock.epochMs();
  }

  afterInstant(callback: () => void, rank?: number): void {
    this.clock.afterInstant(callback, rank);
  }

  setTimer(delayMs: number, callback: () => void): Timer {
    const one = { dueMs: this.nowMs() + (delayMs > 0 ? delayMs : 0), callback };
    this.pending.add(one);
    this.arm();
    return { cancel: () => void this.pending.delete(one) };
  }

  /** No timer fires any more. */
  close(): Promise<void> {
    this.pending.clear();
    return this.alarm.close();
  }

  private nextMs(): number {
    let next = Infinity;
    for (const { dueMs } of this.pending) next = Math.min(next, dueMs);
    return next;
  }

  private arm(): void {
    if (this.isPolling || this.pending.size === 0) return;
    const leftMs = this.nextMs() - this.nowMs();
    if (leftMs > this.leadMs) {
      this.alarm.set(leftMs - this.leadMs, () => this.ring());
      return;
    }
    this.isPolling = true;
    this.nextTurn(() => this.poll());
  }

  /** Alarms that were set before may still ring. */
  private ring(): void {
    if (!this.isPolling) this.poll();
  }

  private poll(): void {
    this.isPolling = false;
    const nowMs = this.nowMs();
    const due = [...this.pending].filter(({ dueMs }) => dueMs <= nowMs).sort((a, b) => a.dueMs - b.dueMs);
    for (const one of due) if (this.pending.delete(one)) one.callback();
    this.arm();
  }
}

/** A thread that sleeps until the time. */
class AlarmThread implements Alarm {
  private readonly cell = new BigInt64Array(new SharedArrayBuffer(8));
  private readonly worker: Worker;
  private onRing: () => void = () => undefined;

  constructor() {
    this.worker = new Worker(new URL('./alarm-thread.mjs', import.meta.url), {
      workerData: this.cell.buffer,
    });
    this.worker.on('message', () => {
      this.worker.unref();
      this.onRing();
    });
    this.worker.unref();
  }

  set(delayMs: number, onRing: () => void): void {
    this.onRing = onRing;
    this.worker.ref(); // as a timer keeps its process alive
    Atomics.store(this.cell, 0, process.hrtime.bigint() + BigInt(Math.round(delayMs * 1e6)));
    Atomics.notify(this.cell, 0);
  }

  async close(): Promise<void> {
    await this.worker.terminate(); // it only sleeps
  }
}
