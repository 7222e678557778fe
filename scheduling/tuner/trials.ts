import type { Candidate } from '../planner/plan.ts';
import { Arm, correctionOf, inherit, MOST_INHERITED, type Correction } from './arm.ts';
import { chosenFrom } from './chosen.ts';
import type { Rung } from './ladder.ts';
import { Level } from './level.ts';
import { luckBetween, type Luck, type Work } from './luck.ts';
import { nextTrial, shareOf, type RaceState } from './next-trial.ts';
import { RateMean } from './rate-mean.ts';
import { WindowNoise } from './window-noise.ts';

/** How long a window takes: as many tokens as make a rate, and time enough for many steps. */
const WINDOW_TOKENS = 100;
const LEAST_WINDOW_MS = 500;
/** Lengths differ by this share of the usual one, evenly spread. */
const WINDOW_SPREAD = 0.6;
const GOLDEN_SECTION = (Math.sqrt(5) - 1) / 2;
/** Share of a window that passes unmeasured after a change: what the one before left in the queues. */
const SETTLE_SHARE = 0.25;

/** The best one contradicts its prediction when it is off by this share, and by so many standard errors. */
const DOUBT = 0.1;
const DOUBT_ERRORS = 3;
/** Windows of the best before others are compared with it, and before it can be said to contradict its prediction. */
const LEVEL_WINDOWS = 2;
const DOUBT_WINDOWS = 4;

/** Windows before an arm is preferred to the best one, and by how much it must be ahead. */
const LEAST_WINDOWS = 3;
const LEAST_ERRORS = 1;
const LEAST_GAIN = 0.005;
/** As a share of the best. */
const AS_GOOD = 0.99;

interface Window {
  /** How long it takes once it has settled; the first look after that ends it. */
  leastMs: number;
  /** Before it has settled: when it may begin. */
  startMs: number;
  isSettled: boolean;
  tokens: number;
  work: Work;
}

const NO_WORK: Work = { answerTokens: 0, ownTokens: 0, fedTokens: 0 };

/**
 * Corrects predictions by measurement, for one number of requests alive. Time is cut into windows; the best candidate runs in
 * almost all of them, now and then another one gets a window, which is compared with those just before: what grows or
 * drifts meanwhile hits both. Candidates race: best-arm identification by upper confidence bounds, on rates relative to those of
 * the best one, with the predictions as a prior. Thresholds that nobody has predicted take part: the model leaves things out. While
 * the measured throughput is off the predicted one by more than a tenth, the prior says little. After the race trials go on timidly,
 * see next-trial.ts.
 */
export class Trials {
  private readonly arms: Arm[];
  private best: Arm;
  private current: Arm;
  private window: Window | undefined;
  private readonly level: Level;
  /** Rate of the best one since it is the best. */
  private rate = new RateMean();
  private readonly noise: WindowNoise;
  /** Windows behind the best from when it was none. */
  private bestBefore = 0;
  /** Windows since the best one ran. */
  private numAway = 0;
  /** Windows of the best one since another one ran. */
  private numHome = 0;
  private numWindowsRun = 0;
  private elapsedMs = 0;
  /** Of the plan before, until there are enough windows under this one. */
  private wasInDoubt = false;

  /**
   * @param candidates best first
   * @param admissionP99Ms bound on the predicted delay: what exceeds it is not tried, however fast, unless all do
   * @param before trials of about as many requests under the plan before: by how much kinds of candidates are better or
   *   worse than predicted, beside each other, is known
   * @param ladder what is measured besides
   * @throws Error without candidates
   */
  constructor(
    candidates: readonly Candidate[],
    admissionP99Ms = Infinity,
    before?: Trials,
    ladder: readonly Rung[] = [],
  ) {
    const ran = before?.best.candidate.name;
    this.arms = chosenFrom(candidates, admissionP99Ms, ran).map((candidate) => new Arm(candidate));
    const [first] = this.arms;
    if (!first) throw new Error('a plan has no candidates');
    this.best = this.current = first;
    for (const rung of ladder)
      if (!this.arms.some((arm) => arm.candidate.name === rung.candidate.name))
        this.arms.push(new Arm(rung.candidate, rung));
    this.noise = before?.noise ?? new WindowNoise();
    this.level = new Level(before?.level);
    if (before) this.inheritFrom(before);
    this.promote(this.wasInDoubt);
    if (before) this.leaveForPredicted();
    this.current = this.best;
  }

  /** The candidate that should run now. */
  get running(): Candidate {
    return this.current.candidate;
  }

  /** The candidate taken for the best: what runs in all windows but trials. */
  get chosen(): Candidate {
    return this.best.candidate;
  }

  get isTrial(): boolean {
    return this.current !== this.best;
  }

  /** Windows behind all comparisons, those of plans before included. */
  get numWindows(): number {
    return this.arms.reduce((sum, { share }) => sum + share.numValues, 0);
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
   * @param work at one home; without it luck is not told from skill, which takes more windows
   */
  tick(nowMs: number, tokens: number, work = NO_WORK): void {
    const { window } = this;
    if (!window) {
      this.open(nowMs, tokens, work, SETTLE_SHARE);
      return;
    }
    if (!window.isSettled) {
      if (nowMs < window.startMs) return;
      // From here, and not from when it should have begun: what was committed between the two would count, and its time not.
      this.window = { ...window, startMs: nowMs, tokens, work, isSettled: true };
      return;
    }
    const lengthMs = nowMs - window.startMs;
    if (lengthMs < window.leastMs) return;
    this.numWindowsRun += 1;
    this.observe(((tokens - window.tokens) / lengthMs) * 1000, luckBetween(window.work, work));
    this.book(lengthMs);
    const before = this.current;
    this.promote(this.isInDoubt());
    this.numAway = before === this.best ? 0 : this.numAway + 1;
    this.numHome = before === this.best ? this.numHome + 1 : 0;
    this.current = this.nextArm();
    this.open(nowMs, tokens, work, this.current === before ? 0 : SETTLE_SHARE);
  }

  private get windowMs(): number {
    const rate = this.arms[0]?.candidate.tokensPerSecond ?? 0;
    return Math.max(LEAST_WINDOW_MS, rate > 0 ? (WINDOW_TOKENS / rate) * 1000 : 0);
  }

  private open(nowMs: number, tokens: number, work: Work, settleShare: number): void {
    const startMs = nowMs + settleShare * this.windowMs;
    // Of changing length: loads have rhythms of their own, and windows in step with one would compare its ups with its downs.
    const spread = (this.numWindowsRun * GOLDEN_SECTION) % 1;
    const leastMs = this.windowMs * (1 + WINDOW_SPREAD * (spread - 0.5));
    this.window = { startMs, leastMs, isSettled: settleShare === 0, tokens, work };
  }

  private observe(tokensPerSecond: number, luck: Luck): void {
    const { level, noise, rate } = this;
    if (this.isTrial) {
      if (!level.isKnown) return;
      const { share } = this.current;
      const value = level.shareOf(tokensPerSecond, luck);
      if (share.numValues > 0) noise.observe(value - share.mean, share.numValues);
      share.observe(value);
      return;
    }
    if (rate.numValues > 0) noise.observe(level.shareOf(tokensPerSecond, luck) - 1, rate.numValues);
    rate.observe(tokensPerSecond);
    level.observe(tokensPerSecond, luck, rate.numValues);
  }

  private book(lengthMs: number): void {
    this.elapsedMs += lengthMs;
    if (this.isTrial) this.current.triedMs += lengthMs * (1 + SETTLE_SHARE);
  }

  /** Whoever is better in all likelihood becomes the best. */
  private promote(isInDoubt: boolean): void {
    const race = this.race(isInDoubt);
    let found: { arm: Arm; mean: number } | undefined;
    for (const arm of this.arms) {
      if (arm === this.best || arm.share.numValues < LEAST_WINDOWS) continue;
      const { mean, error } = shareOf(arm, race);
      const isAhead = mean > 1 + LEAST_GAIN && mean - 1 > LEAST_ERRORS * error;
      if (isAhead && mean > (found?.mean ?? 0)) found = { arm, mean };
    }
    if (!found) return;
    found.arm.believe(found.mean);
    this.prefer(found.arm, isInDoubt);
  }

  private prefer(found: Arm, isInDoubt: boolean): void {
    const before = this.best;
    for (const arm of this.arms) if (arm !== found) arm.rebase(found, arm === before);
    this.level.scale(found.share.mean);
    this.wasInDoubt = isInDoubt;
    this.bestBefore = found.share.numValues;
    this.best = found;
    this.rate = new RateMean();
  }

  private nextArm(): Arm {
    if (this.rate.numValues < LEVEL_WINDOWS) return this.best;
    const isInDoubt = this.isInDoubt();
    const { elapsedMs, numAway, numHome } = this;
    const trialMs = this.windowMs * (1 + SETTLE_SHARE);
    return nextTrial({ ...this.race(isInDoubt), elapsedMs, trialMs, numAway, numHome }) ?? this.best;
  }

  private race(isInDoubt: boolean): RaceState {
    const { arms, best } = this;
    const numBestWindows = this.bestBefore + this.rate.numValues;
    return { arms, best, noise: this.noise.variance, numBestWindows, isInDoubt };
  }

  /** Whether the best one's measurement contradicts its prediction. */
  private isInDoubt(): boolean {
    const { numValues, mean, variance } = this.rate;
    if (numValues < DOUBT_WINDOWS) return this.wasInDoubt;
    const { tokensPerSecond } = this.best.candidate;
    const off = Math.abs(mean - tokensPerSecond);
    return off > DOUBT * tokensPerSecond && off > DOUBT_ERRORS * Math.sqrt(variance);
  }

  private inheritFrom(before: Trials): void {
    this.wasInDoubt = before.isInDoubt();
    // What ran goes on at first: the order of predictions that are nearly equal is chance, and all was measured beside it.
    const same = this.arms.find((arm) => arm.candidate.name === before.best.candidate.name);
    if (same) {
      this.best = same;
      this.bestBefore = Math.min(MOST_INHERITED, before.bestBefore + before.rate.numValues);
    } else if (this.wasInDoubt && !before.correctionFor(this.best))
      this.best = this.bestKnown(before) ?? this.best;
    const ofBest = before.correctionFor(this.best);
    const likeBest = before.mostLike(this.best);
    if (!ofBest) return;
    for (const arm of this.arms) {
      const own =
        arm === this.best || before.mostLike(arm) === likeBest ? undefined : before.correctionFor(arm);
      if (own) inherit(arm, this.best, own, ofBest);
    }
  }

  /** Another one is predicted to be better by more than a change costs; measured ones are for promote(): the best of many is lucky. */
  private leaveForPredicted(): void {
    if (this.wasInDoubt) return;
    const share = (arm: Arm): number => arm.predictedBeside(this.best);
    const isOpen = ({ share: { numValues }, place }: Arm): boolean => numValues === 0 && place === undefined;
    const [found] = this.arms.filter(isOpen).sort((x, y) => share(y) - share(x));
    if (found && found !== this.best && share(found) * AS_GOOD > 1) this.prefer(found, false);
  }

  private correctionFor(arm: Arm): Correction | undefined {
    const like = this.mostLike(arm);
    return like && correctionOf(like, this.best);
  }

  /** Where predictions are wrong, what was measured goes before what is predicted to be better. */
  private bestKnown(before: Trials): Arm | undefined {
    const corrected = (arm: Arm): number =>
      arm.candidate.tokensPerSecond * (before.correctionFor(arm)?.factor ?? 0);
    const known = this.arms.filter((arm) => corrected(arm) > 0);
    return known.sort((a, b) => corrected(b) - corrected(a))[0];
  }

  /**
   * Of a rung, the one in its place. Else the arm of the same name; else one of the same kind: the best, or the one that was
   * measured most. How far a prediction was off says nothing of what was never predicted, nor the other way round.
   */
  private mostLike({ candidate, kinds, place }: Arm): Arm | undefined {
    if (place !== undefined) return this.arms.find((arm) => arm.place === place);
    const predicted = this.arms.filter((arm) => arm.place === undefined);
    const same = predicted.find((arm) => arm.candidate.name === candidate.name);
    if (same) return same;
    const like = predicted.filter((arm) => arm.kinds === kinds);
    if (like.includes(this.best)) return this.best;
    return like.sort((a, b) => b.share.numValues - a.share.numValues)[0];
  }
}
