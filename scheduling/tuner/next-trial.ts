import type { Arm } from './arm.ts';

/** Share of the time for trials at most, and of the tokens that they may cost as predicted or measured. */
interface Budget {
  time: number;
  loss: number;
}
const TIMID: Budget = { time: 0.03, loss: 0.001 };
/** Where the measurements contradict the prediction, finding out is worth more, … */
const IN_DOUBT: Budget = { time: 0.03, loss: 0.004 };
/** … much more at first, every other window until each has been seen, … */
const FIRST_LOOK: Budget = { time: 0.6, loss: 0.02 };
/** … until an arm has so many windows, or is clearly behind after some, … */
const BOLD: Budget = { time: 0.3, loss: 0.02 };
const BOLD_WINDOWS = 8;
/** … and as much while one is measured better than the best, which costs nothing in all likelihood. */
const PROMISING: Budget = { time: 0.6, loss: 0.02 };
const MOST_PROMISING_WINDOWS = 100;

/** An arm with fewer windows costs what is predicted, one with more what is measured. */
const KNOWN_WINDOWS = 3;
const CLEARLY_BEHIND_ERRORS = 2;

/** What has been spent so far, and on whom. */
export interface TrialState {
  arms: readonly Arm[];
  best: Arm;
  elapsedMs: number;
  /** What the next trial will take. */
  trialMs: number;
  isInDoubt: boolean;
}

/** The arm of the next window; undefined = the best goes on, since the others' budgets are used up. */
export function nextTrial(state: TrialState): Arm | undefined {
  const timidly = leastTried(affordable(state, state.isInDoubt ? IN_DOUBT : TIMID));
  if (!state.isInDoubt) return timidly;
  const first = affordable(state, FIRST_LOOK).filter(({ share }) => share.numValues < KNOWN_WINDOWS);
  const unseen =
    first.find(({ share }) => share.numValues === 0) ?? highest(first, ({ share }) => share.mean);
  const unknown = leastTried(affordable(state, BOLD).filter(isUnknown));
  return (
    unseen ??
    unknown ??
    highest(affordable(state, PROMISING).filter(isPromising), ({ upperBound }) => upperBound) ??
    timidly
  );
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

/** Whether too little is known of an arm to leave it aside. */
function isUnknown({ share, errorsAbove }: Arm): boolean {
  if (share.numValues < KNOWN_WINDOWS) return true;
  return share.numValues < BOLD_WINDOWS && errorsAbove > -CLEARLY_BEHIND_ERRORS;
}

const isPromising = ({ share }: Arm): boolean => share.mean > 1 && share.numValues < MOST_PROMISING_WINDOWS;

const leastTried = (arms: readonly Arm[]): Arm | undefined =>
  [...arms].sort((a, b) => a.share.numValues - b.share.numValues)[0];

const highest = (arms: readonly Arm[], by: (arm: Arm) => number): Arm | undefined =>
  [...arms].sort((a, b) => by(b) - by(a))[0];
