import type { Candidate } from '../planner/plan.ts';
import { Arm, correctionOf, inherit } from './arm.ts';
import { chosenFrom } from './chosen.ts';
import { RateMean } from './rate-mean.ts';

/** How long a window takes: as many tokens as make a rate, and time enough for many steps. */
const WINDOW_TOKENS = 400;
const LEAST_WINDOW_MS = 500;
/** Share of a window that passes unmeasured after a change: what the one before left in the queues. */
const SETTLE_SHARE = 0.25;

/** Share of the time for trials at most, and of the tokens that they may cost as predicted or measured. */
const TIME_SHARE = 0.03;
const LOSS_SHARE = 0.001;
/** Where the measurements contradict the prediction, finding out is worth more, … */
const LOSS_SHARE_IN_DOUBT = 0.004;
const DOUBT = 0.05;
/** … and much more at first: until an arm has so many windows, or is clearly behind after some. */
const BOLD_WINDOWS = 8;
const BOLD_TIME_SHARE = 0.3;
const BOLD_LOSS_SHARE = 0.02;
const CLEARLY_BEHIND = { windows: 3, errors: 2 };
/** Windows of the best before others are compared with it, and before it can be said to contradict its prediction. */
const LEVEL_WINDOWS = 2;
const DOUBT_WINDOWS = 4;

/** Windows before an arm is preferred to the best one, and what the difference must be. */
const LEAST_WINDOWS = 6;
const LEAST_ERRORS = 2.5;
const LEAST_GAIN = 0.005;
/** Weight of the newest window in what others are compared with, at least. */
const LEVEL_WEIGHT = 0.25;

interface Window {
  /** Before it has settled: when it may begin. */
  startMs: number;
  isSettled: boolean;
  tokens: number;
}

/**
 * Corrects predictions by measurement, for one number of requests alive. Time is cut into windows; the best candidate runs in
 * almost all of them, now and then another one gets a window, which is compared with those just before: what grows or
 * drifts meanwhile hits both. Trials cost at most 3 % of the time and what is predicted (later: measured) to be 0.1 % of the
 * tokens. While the measured throughput is off the predicted one by more than 5 %, it is 0.4 %, and candidates that have had few
 * windows get 30 % of the time and 2 % of the tokens. Another candidate takes over when it is measured better by 2.5 standard
 * errors and 0.5 %, after six windows.
 */
export class Trials {
  private readonly arms: readonly Arm[];
  private best: Arm;
  private current: Arm;
  private window: Window | undefined;
  /** Rate of the best one of late, and since it is the best. */
  private level = 0;
  private rate = new RateMean();
  private elapsedMs = 0;
  private triedMs = 0;

  /**
   * @param candidates best first
   * @param admissionP99Ms bound on the predicted delay: what exceeds it is not tried, however fast, unless all do
   * @param before trials of about as many requests under the plan before: by how much kinds of candidates are better or
   *   worse than predicted, beside each other, is known
   * @throws Error without candidates
   */
  constructor(candidates: readonly Candidate[], admissionP99Ms = Infinity, before?: Trials) {
    this.arms = chosenFrom(candidates, admissionP99Ms).map((candidate) => new Arm(candidate));
    const [first] = this.arms;
    if (!first) throw new Error('a plan has no candidates');
    this.best = this.current = first;
    if (before) this.inheritFrom(before);
    this.promote();
    this.current = this.best;
  }

  /** The candidate that should run now. */
  get running(): Candidate {
    return this.current.candidate;
  }

  get isTrial(): boolean {
    return this.current !== this.best;
  }

  /** Measured rate of the candidate taken for the best, in tokens per second; undefined before its first window. */
  get measured(): number | undefined {
    return this.rate.numValues > 0 ? this.rate.mean : undefined;
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
    if (!window.isSettled) {
      if (nowMs < window.startMs) return;
      // From here, and not from when it should have begun: what was committed between the two would count, and its time not.
      this.window = { startMs: nowMs, tokens, isSettled: true };
      return;
    }
    const lengthMs = nowMs - window.startMs;
    if (lengthMs < this.windowMs) return;
    this.observe(((tokens - window.tokens) / lengthMs) * 1000);
    this.book(lengthMs);
    const before = this.current;
    this.promote();
    this.current = before === this.best ? this.nextTrial() : this.best;
    this.open(nowMs, tokens, this.current === before ? 0 : SETTLE_SHARE);
  }

  private get windowMs(): number {
    const rate = this.arms[0]?.candidate.tokensPerSecond ?? 0;
    return Math.max(LEAST_WINDOW_MS, rate > 0 ? (WINDOW_TOKENS / rate) * 1000 : 0);
  }

  private open(nowMs: number, tokens: number, settleShare: number): void {
    const startMs = nowMs + settleShare * this.windowMs;
    this.window = { startMs, isSettled: settleShare === 0, tokens };
  }

  private observe(tokensPerSecond: number): void {
    if (this.isTrial) {
      if (this.level > 0) this.current.share.observe(tokensPerSecond / this.level);
      return;
    }
    this.rate.observe(tokensPerSecond);
    this.level += (tokensPerSecond - this.level) * Math.max(LEVEL_WEIGHT, 1 / this.rate.numValues);
  }

  private book(lengthMs: number): void {
    this.elapsedMs += lengthMs;
    if (!this.isTrial) return;
    const withSettlingMs = lengthMs * (1 + SETTLE_SHARE);
    this.triedMs += withSettlingMs;
    this.current.lostMs += this.lossShareOf(this.current) * withSettlingMs;
  }

  /** Part of the throughput that is lost while an arm runs. */
  private lossShareOf({ share, candidate }: Arm): number {
    const predicted = candidate.tokensPerSecond / this.best.candidate.tokensPerSecond;
    return Math.max(0, 1 - (share.numValues >= 3 ? share.mean : predicted));
  }

  /** Whoever is measured clearly better becomes the best. */
  private promote(): void {
    let found: Arm | undefined;
    for (const arm of this.arms) {
      const { numValues, mean } = arm.share;
      if (arm === this.best || numValues < LEAST_WINDOWS || mean <= 1 + LEAST_GAIN) continue;
      if (arm.errorsAbove >= LEAST_ERRORS && mean > (found?.share.mean ?? 0)) found = arm;
    }
    if (!found) return;
    const before = this.best;
    for (const arm of this.arms) if (arm !== found) arm.rebase(found, arm === before);
    this.level *= found.share.mean;
    this.best = found;
    this.rate = new RateMean();
  }

  /** The arm of the next window: the least tried one that the budgets allow, else the best. */
  private nextTrial(): Arm {
    if (this.rate.numValues < LEVEL_WINDOWS) return this.best;
    const isInDoubt = this.isInDoubt();
    const boldly = isInDoubt ? this.leastTried(BOLD_TIME_SHARE, BOLD_LOSS_SHARE, isOpen) : undefined;
    const lossShare = isInDoubt ? LOSS_SHARE_IN_DOUBT : LOSS_SHARE;
    return boldly ?? this.leastTried(TIME_SHARE, lossShare, () => true) ?? this.best;
  }

  /** Of the arms whose next window is within these shares of the time and the tokens, the one with the fewest windows. */
  private leastTried(timeShare: number, lossShare: number, isWanted: (arm: Arm) => boolean): Arm | undefined {
    const withMs = this.windowMs * (1 + SETTLE_SHARE);
    if (this.triedMs + withMs > timeShare * this.elapsedMs) return undefined;
    // Each has a budget of its own, or those that cost little would leave nothing for those that cost much.
    const budgetMs = (lossShare * this.elapsedMs) / Math.max(1, this.arms.length - 1);
    const affordable = this.arms.filter(
      (arm) => arm !== this.best && isWanted(arm) && arm.lostMs + this.lossShareOf(arm) * withMs <= budgetMs,
    );
    return affordable.sort((a, b) => a.share.numValues - b.share.numValues)[0];
  }

  /** Whether the best one's measurement contradicts its prediction. */
  private isInDoubt(): boolean {
    const { numValues, mean, variance } = this.rate;
    const { tokensPerSecond } = this.best.candidate;
    const off = Math.abs(mean - tokensPerSecond);
    return numValues >= DOUBT_WINDOWS && off > DOUBT * tokensPerSecond && off > 3 * Math.sqrt(variance);
  }

  private inheritFrom(before: Trials): void {
    const likeBest = before.mostLike(this.best);
    const ofBest = likeBest && correctionOf(likeBest, before.best);
    if (!ofBest) return;
    for (const arm of this.arms) {
      const like = arm === this.best ? undefined : before.mostLike(arm);
      const own = like && like !== likeBest ? correctionOf(like, before.best) : undefined;
      if (own) inherit(arm, this.best, own, ofBest);
    }
  }

  /** The arm of the same name; else one of the same kind: the best, or the one that was measured most. */
  private mostLike({ candidate, kinds }: Arm): Arm | undefined {
    const same = this.arms.find((arm) => arm.candidate.name === candidate.name);
    if (same || this.best.kinds === kinds) return same ?? this.best;
    const like = this.arms.filter((arm) => arm.kinds === kinds);
    return like.sort((a, b) => b.share.numValues - a.share.numValues)[0];
  }
}

/** Whether too little is known of an arm to leave it aside. */
function isOpen({ share, errorsAbove }: Arm): boolean {
  const { windows, errors } = CLEARLY_BEHIND;
  return share.numValues < BOLD_WINDOWS && (share.numValues < windows || errorsAbove > -errors);
}
