import type { Clock, Timer } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';

export interface RestartOptions {
  /** Delay before the first restart, in milliseconds; it doubles with each start that fails. Default 1000. */
  firstDelayMs?: number;
  /** After this many failures in a row the child counts as given up. Default 6. */
  giveUpAfter?: number;
  /** A child that is given up is tried again this often, in case its cause was mended. Default 60,000. */
  givenUpDelayMs?: number;
  /** A run of this length wipes out the failures before it. Default 30,000. */
  goodRunMs?: number;
}

export interface RestartDecision {
  delayMs: number;
  hasGivenUp: boolean;
}

/**
 * When a child that ended is started again: with the defaults after 1, 2, 4, 8, 16, 32 seconds, then once a
 * minute. A child that can never start is thus started at most six times in the first minute.
 */
export class RestartPolicy {
  private readonly options: Required<RestartOptions>;
  private failures = 0;

  constructor(options: RestartOptions = {}) {
    this.options = {
      firstDelayMs: 1000,
      giveUpAfter: 6,
      givenUpDelayMs: 60_000,
      goodRunMs: 30_000,
      ...options,
    };
  }

  /** Called at each end of the child with the length of its run. */
  next(runMs: number): RestartDecision {
    if (runMs >= this.options.goodRunMs) this.failures = 0;
    this.failures += 1;
    const { firstDelayMs, giveUpAfter, givenUpDelayMs } = this.options;
    if (this.failures > giveUpAfter) return { delayMs: givenUpDelayMs, hasGivenUp: true };
    return { delayMs: Math.min(firstDelayMs * 2 ** (this.failures - 1), givenUpDelayMs), hasGivenUp: false };
  }
}

/** `waiting`: ended, to be started again; `given-up`: the same after many failures, at long intervals. */
export type ChildState = 'idle' | 'running' | 'waiting' | 'given-up' | 'stopped';

/** How a run ended, in words for the log. */
export interface ChildExit {
  reason: string;
}

export interface SupervisedChildOptions extends RestartOptions {
  name: string;
  /** Starts one run and calls `onExit` exactly once when it is over; may call it synchronously. */
  spawn: (onExit: (exit: ChildExit) => void) => void;
}

/** One child that is started again, with growing delay, until it is told to stop. */
export class SupervisedChild {
  readonly name: string;
  private readonly policy: RestartPolicy;
  private readonly spawn: SupervisedChildOptions['spawn'];
  private readonly deps: { clock: Clock; logger: Logger };
  private timer: Timer | undefined;
  private currentState: ChildState = 'idle';
  private starts = 0;

  constructor(options: SupervisedChildOptions, deps: { clock: Clock; logger: Logger }) {
    this.name = options.name;
    this.policy = new RestartPolicy(definedOnly(options));
    this.spawn = options.spawn;
    this.deps = deps;
  }

  get state(): ChildState {
    return this.currentState;
  }

  /** Number of runs so far. */
  get numStarts(): number {
    return this.starts;
  }

  start(): void {
    if (this.currentState !== 'idle') return;
    this.run();
  }

  /** No further starts. The run in progress, if any, is the caller's to end. Idempotent. */
  stop(): void {
    this.currentState = 'stopped';
    this.timer?.cancel();
    this.timer = undefined;
  }

  private run(): void {
    const startedMs = this.deps.clock.nowMs();
    this.currentState = 'running';
    this.starts += 1;
    let isOver = false;
    this.spawn((exit) => {
      if (isOver) return;
      isOver = true;
      this.onExit(exit, this.deps.clock.nowMs() - startedMs);
    });
  }

  private onExit(exit: ChildExit, runMs: number): void {
    if (this.currentState === 'stopped') return;
    const { delayMs, hasGivenUp } = this.policy.next(runMs);
    this.currentState = hasGivenUp ? 'given-up' : 'waiting';
    const seconds = (delayMs / 1000).toFixed(delayMs < 10_000 ? 1 : 0);
    const plan = hasGivenUp
      ? `given up after many failures, tried again every ${seconds} s`
      : `starts again in ${seconds} s`;
    this.deps.logger.error(
      { child: this.name, state: this.currentState, starts: this.starts },
      `${this.name} ended: ${exit.reason}; ${plan}`,
    );
    this.timer = this.deps.clock.setTimer(delayMs, () => this.run());
  }
}

/** Leaves out options that are given as undefined, so that they do not hide defaults. */
function definedOnly(options: RestartOptions): RestartOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
