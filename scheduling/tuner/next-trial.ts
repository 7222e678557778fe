import type { Arm } from './arm.ts';

/** Share of the time for trials at most, and of the tokens that they may cost as predicted or measured. */
interface Budget {
  time: number;
  loss: number;
}
const TIMID: Budget = { time: 0.03, loss: 0.001 };
/** Where the measurements contradict the prediction, finding out is worth more once the race is over. */
const IN_DOUBT: Budget = { time: 0.03, loss: 0.004 };

/** A challenger may be better than the best as long as its mean and so many standard errors are above this: less is not worth finding. */
const RACE_ERRORS = 2;
const RACE_GAIN = 1.01;
/** Windows after which it is as good as the best for all purposes. */
const MOST_RACE_WINDOWS = 40;
/** Windows of challengers in a row: where predictions are wrong, the best one is nobody special. */
const RACE_RUN = 1;
const RACE_RUN_IN_DOUBT = 3;

/** Windows of the best one between those of challengers that are behind it so far: whatever they may yet turn out to be, it is likely to be little. */
const BEHIND_PAUSE = 5;

/** Standard error of predictions beside each other, relative, while the best one's is confirmed, and while it is contradicted. */
const PREDICTION_ERROR = 0.05;
const PREDICTION_ERROR_IN_DOUBT = 0.5;
/** Arms predicted to differ by so little do nearly the same, in doubt or not: what a prediction is off by, it is off by for both. */
const ALIKE = { within: 0.02, error: 0.03 };
/** What is expected of a rung of the ladder, beside the best prediction, while that is confirmed: to be worse, or it would be one. */
const RUNG = { mean: 0.95, error: 0.06 };

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
  isInDoubt: boolean;
}

/** And what has been spent so far. */
export interface TrialState extends RaceState {
  elapsedMs: number;
  /** What the next trial will take. */
  trialMs: number;
  /** Windows since the best one ran. */
  numAway: number;
  /** Windows of the best one since another one ran. */
  numHome: number;
}

/** The arm of the next window; undefined = the best one. */
export function nextTrial(state: TrialState): Arm | undefined {
  const { isInDoubt, numAway, numHome } = state;
  if (numAway >= (isInDoubt ? RACE_RUN_IN_DOUBT : RACE_RUN)) return undefined;
  const challenger = challengerOf(state, numHome >= BEHIND_PAUSE);
  if (challenger || numAway > 0) return challenger;
  return leastTried(affordable(state, isInDoubt ? IN_DOUBT : TIMID));
}

/**
 * Whoever may yet turn out to be better than the best (the largest upper confidence bound); undefined when the race is over. What
 * is far behind is left aside after a window or two, so a race costs little, however bad some of its arms are.
 */
function challengerOf(state: RaceState, isBehindAllowed: boolean): Arm | undefined {
  const isBehind = (arm: Arm): boolean =>
    arm.share.numValues >= KNOWN_WINDOWS && shareOf(arm, state).mean <= 1;
  const bound = (arm: Arm): number => {
    const { mean, error } = shareOf(arm, state);
    return mean + RACE_ERRORS * error;
  };
  const open = triable(state).filter(
    (arm) => arm.share.numValues < MOST_RACE_WINDOWS && bound(arm) > RACE_GAIN,
  );
  return highest(isBehindAllowed ? open : open.filter((arm) => !isBehind(arm)), bound);
}

/** All but the best. */
const triable = ({ arms, best, isInDoubt }: RaceState): Arm[] =>
  arms.filter((arm) => arm !== best && (isInDoubt || !arm.isForDoubt));

/** What an arm gives as a share of the best one, as far as prediction and measurement together tell, and its standard error. */
export function shareOf(
  arm: Arm,
  { best, noise, numBestWindows, isInDoubt }: RaceState,
): { mean: number; error: number } {
  const prior = priorOf(arm, best, isInDoubt);
  const certainty = prior.error ** -2;
  if (arm.share.numValues === 0) return prior;
  const measured = arm.errorBeside(numBestWindows, noise) ** -2;
  const mean = (prior.mean * certainty + arm.share.mean * measured) / (certainty + measured);
  return { mean, error: (certainty + measured) ** -0.5 };
}

function priorOf(arm: Arm, best: Arm, isInDoubt: boolean): { mean: number; error: number } {
  const mean = arm.predictedBeside(best);
  const isAlike = arm.place === undefined && best.place === undefined && Math.abs(mean - 1) <= ALIKE.within;
  if (isAlike) return { mean, error: ALIKE.error };
  if (isInDoubt || best.place !== undefined) return { mean, error: PREDICTION_ERROR_IN_DOUBT };
  return arm.place === undefined ? { mean, error: PREDICTION_ERROR } : RUNG;
}

/** Part of the throughput that is lost while an arm runs. */
function lossShareOf(arm: Arm, best: Arm): number {
  const { share } = arm;
  return Math.max(0, 1 - (share.numValues >= KNOWN_WINDOWS ? share.mean : arm.predictedBeside(best)));
}

/** Arms whose next window is within these shares of the time and the tokens. */
function affordable(state: TrialState, { time, loss }: Budget): Arm[] {
  const { arms, best, elapsedMs, trialMs } = state;
  const triedMs = arms.reduce((sum, arm) => sum + arm.triedMs, 0);
  if (triedMs + trialMs > time * elapsedMs) return [];
  // Each has a budget of its own, or those that cost little would leave nothing for those that cost much.
  const budgetMs = (loss * elapsedMs) / Math.max(1, arms.length - 1);
  return triable(state).filter((arm) => lossShareOf(arm, best) * (arm.triedMs + trialMs) <= budgetMs);
}

const leastTried = (arms: readonly Arm[]): Arm | undefined =>
  [...arms].sort((a, b) => a.share.numValues - b.share.numValues)[0];

const highest = (arms: readonly Arm[], by: (arm: Arm) => number): Arm | undefined =>
  [...arms].sort((a, b) => by(b) - by(a))[0];
