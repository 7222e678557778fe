import type { Arm } from './arm.ts';

/** Share of the time for trials at most, and of the tokens that they may cost as predicted or measured. */
interface Budget {
  time: number;
  loss: number;
}
const TIMID: Budget = { time: 0.03, loss: 0.001 };
/** Where the measurements contradict the prediction, finding out is worth more once the race is over. */
const IN_DOUBT: Budget = { time: 0.03, loss: 0.004 };

/** A challenger may be better than the best as long as its mean and so many standard errors are above this. */
const RACE_ERRORS = 2;
const RACE_GAIN = 1.005;
/** Windows after which it is as good as the best for all purposes. */
const MOST_RACE_WINDOWS = 60;

/** An arm with fewer windows costs what is predicted, one with more what is measured. */
const KNOWN_WINDOWS = 3;

/** What is known of the arms beside each other. */
export interface RaceState {
  arms: readonly Arm[];
  best: Arm;
  /** Windows behind the best. */
  numBestWindows: number;
  /** Variance of one window, relative. */
  noise: number;
}

/** And what has been spent so far. */
export interface TrialState extends RaceState {
  elapsedMs: number;
  /** What the next trial will take. */
  trialMs: number;
  isInDoubt: boolean;
}

/** The arm of the next window; undefined = the best goes on, since the others' budgets are used up. */
export function nextTrial(state: TrialState): Arm | undefined {
  if (!state.isInDoubt) return leastTried(affordable(state, TIMID));
  return challengerOf(state) ?? leastTried(affordable(state, IN_DOUBT));
}

/**
 * Whoever may yet turn out to be better than the best (the largest upper confidence bound); undefined when the race is over. What
 * is far behind is left aside after a window or two, so a race costs little, however bad some of its arms are.
 */
export function challengerOf({ arms, best, noise, numBestWindows }: RaceState): Arm | undefined {
  const others = arms.filter((arm) => arm !== best);
  const unseen = others.find(({ share }) => share.numValues === 0);
  if (unseen) return unseen;
  const bound = (arm: Arm): number => arm.share.mean + RACE_ERRORS * arm.errorBeside(numBestWindows, noise);
  const open = others.filter((arm) => arm.share.numValues < MOST_RACE_WINDOWS && bound(arm) > RACE_GAIN);
  return highest(open, bound);
}

/** Part of the throughput that is lost while an arm runs. */
function lossShareOf({ share, candidate }: Arm, best: Arm): number {
  const predicted = candidate.tokensPerSecond / best.candidate.tokensPerSecond;
  return Math.max(0, 1 - (share.numValues >= KNOWN_WINDOWS ? share.mean : predicted));
}

/** Arms whose next window is within these shares of the time and the tokens. */
function affordable({ arms, best, elapsedMs, trialMs }: TrialState, { time, loss }: Budget): Arm[] {
  const triedMs = arms.reduce((sum, arm) => sum + arm.triedMs, 0);
  if (triedMs + trialMs > time * elapsedMs) return [];
  // Each has a budget of its own, or those that cost little would leave nothing for those that cost much.
  const budgetMs = (loss * elapsedMs) / Math.max(1, arms.length - 1);
  return arms.filter((arm) => arm !== best && lossShareOf(arm, best) * (arm.triedMs + trialMs) <= budgetMs);
}

const leastTried = (arms: readonly Arm[]): Arm | undefined =>
  [...arms].sort((a, b) => a.share.numValues - b.share.numValues)[0];

const highest = (arms: readonly Arm[], by: (arm: Arm) => number): Arm | undefined =>
  [...arms].sort((a, b) => by(b) - by(a))[0];
