import type { Clock, Timer } from '../../core/clock.ts';

const MAX_UNANSWERED = 3;

/**
 * Watches over the silence of a home: probes after `idleProbeMs` without a sign of life, and gives up after
 * three probes without an answer. Signs of life only move a mark, so that a token costs no timer.
 */
export class Watchdog {
  private readonly clock: Clock;
  private readonly idleProbeMs: number;
  private readonly probe: () => void;
  private readonly onSilent: () => void;
  private timer: Timer | undefined;
  private lastSignMs = 0;
  private unanswered = 0;

  constructor(clock: Clock, idleProbeMs: number, probe: () => void, onSilent: () => void) {
    this.clock = clock;
    this.idleProbeMs = idleProbeMs;
    this.probe = probe;
    this.onSilent = onSilent;
  }

  start(): void {
    this.touch();
    this.arm(this.idleProbeMs);
  }

  /** A sign of life. */
  touch(): void {
    this.lastSignMs = this.clock.nowMs();
    this.unanswered = 0;
  }

  close(): void {
    this.timer?.cancel();
    this.timer = undefined;
  }

  private arm(delayMs: number): void {
    this.timer?.cancel();
    this.timer = this.clock.setTimer(delayMs, () => this.check());
  }

  private check(): void {
    if (this.timer === undefined) return;
    const leftMs = this.lastSignMs + this.idleProbeMs - this.clock.nowMs();
    if (this.unanswered === 0 && leftMs > 0) return this.arm(leftMs);
    if (this.unanswered >= MAX_UNANSWERED) return this.onSilent();
    this.unanswered += 1;
    this.arm(this.idleProbeMs);
    this.probe();
  }
}
