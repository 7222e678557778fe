import type { Clock, Timer } from '../../core/clock.ts';
import type { Heartbeat } from '../../transport/messages.ts';

/** Sends a heartbeat now and then every `intervalMs`, from the first moment on, until stopped. */
export class Heartbeats {
  private readonly clock: Clock;
  private readonly intervalMs: number;
  private readonly beat: () => Heartbeat;
  private readonly publish: (heartbeat: Heartbeat) => void;
  private timer: Timer | undefined;

  constructor(
    clock: Clock,
    intervalMs: number,
    beat: () => Heartbeat,
    publish: (heartbeat: Heartbeat) => void,
  ) {
    this.clock = clock;
    this.intervalMs = intervalMs;
    this.beat = beat;
    this.publish = publish;
  }

  start(): void {
    this.publish(this.beat());
    this.timer = this.clock.setTimer(this.intervalMs, () => this.start());
  }

  /** One heartbeat out of turn: after a change of state nobody should wait for the next one. */
  now(): void {
    this.publish(this.beat());
  }

  stop(): void {
    this.timer?.cancel();
  }
}
