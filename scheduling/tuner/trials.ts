import type { Candidate } from '../planner/plan.ts';
import { Arm, standardErrorsAbove } from './arm.ts';

/** How long a window takes: as many tokens as make a rate, and time enough for many steps. */
const WINDOW_TOKENS = 400;
const LEAST_WINDOW_MS = 500;
/** Share of a window that passes unmeasured after a change: what the one before left in the queues. */
const SETTLE_SHARE = 0.25;

/** Candidates that are tried are predicted within this of the best … */
const CLOSE = 0.05;
/** … and not more than so many; eager is tried besides, whatever is predicted. */
const MAX_CLOSE = 3;

/** Share of the time for trials at most, and of the tokens that they may cost as predicted or measured. */
const TIME_SHARE = 0.03;
const LOSS_SHARE = 0.001;
/** Where the measurements contradict the prediction, finding out is worth more. */
const LOSS_SHARE_IN_DOUBT = 0.004;
const DOUBT = 0.05;

/** Windows of both before one is preferred to the other, and what the difference must be. */
const LEAST_WINDOWS = 6;
const LEAST_ERRORS = 2.5;
const LEAST_GAIN = 0.005;

interface Window {
  startMs: number;
  tokens: number;
  arm: number;
}

/**
 * Corrects predictions by measurement, for one number of requests alive. Time is cut into windows; the best candidate runs in
 * almost all of them, now and then another one gets a window. Trials cost at most 3 % of the time and what is predicted (later:
 * measured) to be 0.1 % of the tokens, 0.4 % once the measured throughput is off the predicted one by more than 5 %. Another
 * candidate takes over when it is measured better by 2.5 standard errors and 0.5 %, after six windows of both.
 */
export class Trials {
  private readonly arms: readonly Arm[];
  private best = 0;
  private current = 0;
  private window: Window | undefined;
  private elapsedMs = 0;
  private triedMs = 0;
  private lostMs = 0;

  /**
   * @param candidates best first, never empty
   * @param admissionP99Ms bound on the predicted delay: what exceeds it is not tried, however fast, unless all do
   */
  constructor(candidates: readonly Candidate[], admissionP99Ms = Infinity) {
    const most = candidates[0]?.tokensPerSecond ?? 0;
    const largestMs = Math.max(admissionP99Ms, candidates[0]?.p99AdmissionMs ?? 0);
    const allowed = candidates.filter(({ p99AdmissionMs = 0 }) => p99AdmissionMs <= largestMs);
    const close = allowed.filter(({ tokensPerSecond }) => tokensPerSecond >= most * (1 - CLOSE));
    const chosen = close.slice(0, MAX_CLOSE);
    const eager = allowed.find(({ policies }) => policies.every(({ kind }) => kind === 'eager'));
    if (eager && !chosen.includes(eager)) chosen.push(eager);
    this.arms = chosen.map((candidate) => new Arm(candidate));
  }

  /** The candidate that should run now. */
  get running(): Candidate | undefined {
    return this.arms[this.current]?.candidate;
  }

  get isTrial(): boolean {
    return this.current !== this.best;
  }

  /** Measured rate of the candidate taken for the best, in tokens per second; undefined before its first window. */
  get measured(): number | undefined {
    const arm = this.arms[this.best];
    return arm && arm.numWindows > 0 ? arm.mean : undefined;
  }

  /** What ran until now is not comparable: other numbers of requests, or nothing to do. */
  interrupt(): void {
    this.window = undefined;
    this.current = this.best;
  }

  /**
   * Time passes while the requests alive stay the same.
   *
   * @param tokens committed so far in the whole system, since any beginning
   */
  tick(nowMs: number, tokens: number): void {
    const { window } = this;
    if (!window) {
      this.open(nowMs, tokens, SETTLE_SHARE);
      return;
    }
    if (nowMs < window.startMs) {
      window.tokens = tokens; // not settled yet
      return;
    }
    const lengthMs = nowMs - window.startMs;
    if (lengthMs < this.windowMs) return;
    this.arms[window.arm]?.observe(((tokens - window.tokens) / lengthMs) * 1000);
    this.book(lengthMs);
    const before = this.current;
    this.best = this.findBest();
    this.current = before === this.best ? this.nextTrial() : this.best;
    this.open(nowMs, tokens, this.current === before ? 0 : SETTLE_SHARE);
  }

  private get windowMs(): number {
    const rate = this.arms[0]?.candidate.tokensPerSecond ?? 0;
    return Math.max(LEAST_WINDOW_MS, rate > 0 ? (WINDOW_TOKENS / rate) * 1000 : 0);
  }

  private open(nowMs: number, tokens: number, settleShare: number): void {
    this.window = { startMs: nowMs + settleShare * this.windowMs, tokens, arm: this.current };
  }

  private book(lengthMs: number): void {
    this.elapsedMs += lengthMs;
    if (!this.isTrial) return;
    const withSettlingMs = lengthMs * (1 + SETTLE_SHARE);
    this.triedMs += withSettlingMs;
    this.lostMs += this.lossShareOf(this.current) * withSettlingMs;
  }

  /** Part of the throughput that is lost while an arm runs. */
  private lossShareOf(index: number): number {
    const arm = this.arms[index];
    const best = this.arms[this.best];
    if (!arm || !best) return 0;
    const isMeasured = arm.numWindows >= 3 && best.numWindows >= 3 && best.mean > 0;
    const ratio = isMeasured
      ? arm.mean / best.mean
      : arm.candidate.tokensPerSecond / best.candidate.tokensPerSecond;
    return Math.max(0, 1 - ratio);
  }

  private findBest(): number {
    const best = this.arms[this.best];
    let found = this.best;
    if (!best || best.numWindows < LEAST_WINDOWS) return found;
    this.arms.forEach((arm, index) => {
      const isBetter =
        arm.numWindows >= LEAST_WINDOWS &&
        arm.mean > best.mean * (1 + LEAST_GAIN) &&
        standardErrorsAbove(arm, best) >= LEAST_ERRORS;
      if (isBetter && arm.mean > (this.arms[found]?.mean ?? 0)) found = index;
    });
    return found;
  }

  /** The arm of the next window: the least tried one that the budgets allow, else the best. */
  private nextTrial(): number {
    const withMs = this.windowMs * (1 + SETTLE_SHARE);
    if (this.triedMs + withMs > TIME_SHARE * this.elapsedMs) return this.best;
    const lossBudgetMs = (this.isInDoubt() ? LOSS_SHARE_IN_DOUBT : LOSS_SHARE) * this.elapsedMs;
    let next = this.best;
    this.arms.forEach((arm, index) => {
      if (index === this.best || this.lostMs + this.lossShareOf(index) * withMs > lossBudgetMs) return;
      const least = next === this.best ? Infinity : (this.arms[next]?.numWindows ?? Infinity);
      if (arm.numWindows < least) next = index;
    });
    return next;
  }

  /** Whether the best one's measurement contradicts its prediction. */
  private isInDoubt(): boolean {
    const best = this.arms[this.best];
    if (!best || best.numWindows < LEAST_WINDOWS) return false;
    const off = Math.abs(best.mean - best.candidate.tokensPerSecond);
    return off > DOUBT * best.candidate.tokensPerSecond && off > 3 * Math.sqrt(best.variance);
  }
}
