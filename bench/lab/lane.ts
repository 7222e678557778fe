import { setTimeout as sleep } from 'node:timers/promises';
import type { Driver } from '../baselines/driver.ts';
import { ClosedLoop } from './closed-loop.ts';
import type { Gate } from './gate.ts';
import type { ModeRun } from './mode-run.ts';
import type { PausableClock } from './pausable-clock.ts';
import type { StepRecord } from './step-record.ts';
import type { Workload } from './workload.ts';

/** What a lane is made of; its driver's engines are shares behind `gate`, its clock is `clock`. */
export interface LaneParts {
  driver: Driver;
  gate: Gate;
  clock: PausableClock;
  /** Steps per model, home first, filled by the shares while the lane runs. */
  steps: readonly [StepRecord[], StepRecord[]];
}

export interface TurnOptions {
  /** Runs before anything is counted. */
  warmUpSeconds: number;
  seconds: number;
  /** The window lasts until so many tokens have come, … */
  minTokens?: number;
  /** … but no longer than this; it then ends at its last token. */
  maxSeconds?: number;
}

const POLL_MS = 20;

/**
 * One mode with its requests alive, running only in its turns: in between its engines take no step and its clock
 * stands still, so that several modes can be measured in interleaved rounds without computing their prompts again.
 */
export class Lane {
  readonly driver: Driver;
  readonly loop: ClosedLoop;
  /** Growing numbers of the driver, such as a home's counters. */
  counters: () => Readonly<Record<string, number>> = () => ({});
  private readonly parts: LaneParts;
  private readonly concurrency: number;
  private isFilled = false;

  constructor(parts: LaneParts, workload: Workload, concurrency: number) {
    this.parts = parts;
    this.driver = parts.driver;
    this.concurrency = concurrency;
    this.loop = new ClosedLoop(parts.driver, workload, concurrency, parts.clock);
    parts.clock.pause();
  }

  start(): Promise<void> {
    return this.driver.start(this.loop);
  }

  /**
   * Submits the first requests and runs until each has had a token, of the guest too with `needsGuest`.
   * @returns whether that happened within `maxSeconds`
   */
  async warmUp(needsGuest: boolean, maxSeconds: number): Promise<boolean> {
    this.resume();
    this.isFilled = true;
    this.loop.fill();
    const isWarm = (): boolean => this.loop.numWarm(needsGuest) >= this.concurrency;
    const deadlineMs = performance.now() + maxSeconds * 1000;
    while (!isWarm() && performance.now() < deadlineMs) await sleep(POLL_MS);
    await this.pause();
    return isWarm();
  }

  /** One turn: warm up, count into `run`, stop. */
  async turn(run: ModeRun, options: TurnOptions): Promise<void> {
    const { warmUpSeconds, seconds, minTokens = 0, maxSeconds = seconds } = options;
    this.resume();
    if (!this.isFilled) {
      this.isFilled = true;
      this.loop.fill();
    }
    await sleep(warmUpSeconds * 1000);
    for (const steps of this.parts.steps) steps.length = 0;
    const { stats } = run;
    const before = { ...stats };
    const countersBefore = this.counters();
    this.loop.begin(stats);
    const startMs = performance.now();
    await sleep(seconds * 1000);
    const isShort = (): boolean => stats.tokens - before.tokens < minTokens;
    const wasShort = isShort();
    while (isShort() && performance.now() - startMs < maxSeconds * 1000) await sleep(POLL_MS);
    this.loop.end(wasShort);
    run.rates.push((stats.tokens - before.tokens) / (stats.seconds - before.seconds));
    for (const [name, count] of Object.entries(this.counters()))
      run.counters[name] = (run.counters[name] ?? 0) + count - (countersBefore[name] ?? 0);
    this.parts.steps.forEach((steps, i) => {
      for (const step of steps) run.steps[i]?.push(step);
    });
    await this.pause();
  }

  /** Ends the lane; its gate must open, or a step that waits there would never end. */
  async close(): Promise<void> {
    this.loop.close();
    this.resume();
    await this.driver.close();
    await this.parts.gate.close();
  }

  private resume(): void {
    this.parts.clock.resume();
    this.parts.gate.open();
  }

  private async pause(): Promise<void> {
    await this.parts.gate.close();
    this.parts.clock.pause();
  }
}
