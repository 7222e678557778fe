import type { Thresholds } from './candidates.ts';
import { adjustedLogRates, mean } from './control.ts';
import type { Stage, Turn } from './entrant.ts';

/** Turns of thresholds, or of the default (null). */
export interface Measured {
  thresholds: Thresholds | null;
  turns: readonly Turn[];
}

export interface SweepPoint {
  /** null: what the runtime chooses by itself. */
  thresholds: Thresholds | null;
  /** Over the rounds that choose: for the default and the best, those of the verdict are not in it. */
  tokensPerSecond: number;
  /** Standard error over the turns. */
  standardError: number;
  turns: number;
  isFinalist: boolean;
  /** Of the rounds that judge; null for those that are not in them. */
  verdictTokensPerSecond: number | null;
}

export interface Verdict {
  points: SweepPoint[];
  /** Best thresholds as measured in the rounds that choose. */
  best: Thresholds;
  /** What they and the runtime by itself reached in the rounds that judge, which chose nobody. */
  bestTokensPerSecond: number;
  autoTokensPerSecond: number;
  /** The runtime's part of the best, by differences within a round, and its standard error. */
  share: number;
  shareStandardError: number;
}

/** Of the mean; NaN for a single value. */
function standardError(values: readonly number[]): number {
  const average = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1);
  return Math.sqrt(variance / values.length);
}

/** An entrant with the adjusted logarithms of its rates. */
interface Adjusted extends Measured {
  logRates: readonly number[];
}

function adjusted(entrants: readonly Measured[]): Adjusted[] {
  const logRates = adjustedLogRates(entrants.map(({ turns }) => turns.map(({ record }) => record)));
  return entrants.map((entrant, i) => ({ ...entrant, logRates: logRates[i] ?? [] }));
}

const ofStage = ({ turns, logRates }: Adjusted, isOf: (stage: Stage) => boolean): number[] =>
  logRates.filter((_, i) => isOf(turns[i]?.stage ?? 'first'));

const isChoosing = (stage: Stage): boolean => stage !== 'verdict';
const isJudging = (stage: Stage): boolean => stage === 'verdict';

const rankOf = (entrant: Adjusted): number => mean(ofStage(entrant, isChoosing));

/**
 * The default and the best few by the rounds so far, best first.
 *
 * @param entrants all: what luck does is learnt from every turn there was; of a dozen it would be noise, and so would be the best
 * @param among who may be chosen
 */
export function finalistsOf<T extends Measured>(
  entrants: readonly T[],
  count: number,
  among: readonly T[] = entrants,
): T[] {
  const ranks = adjusted(entrants).map(rankOf);
  const rank = (entrant: T): number => ranks[entrants.indexOf(entrant)] ?? -Infinity;
  const others = among.filter(({ thresholds }) => thresholds !== null);
  const auto = among.filter(({ thresholds }) => thresholds === null);
  return [...auto, ...others.sort((a, b) => rank(b) - rank(a)).slice(0, count)];
}

function pointOf(entrant: Adjusted): SweepPoint {
  const { thresholds, turns } = entrant;
  const choosing = ofStage(entrant, isChoosing);
  const judging = ofStage(entrant, isJudging);
  const tokensPerSecond = Math.exp(mean(choosing));
  return {
    thresholds,
    tokensPerSecond,
    standardError: tokensPerSecond * standardError(choosing),
    turns: choosing.length,
    isFinalist: turns.some(({ stage }) => stage === 'selection'),
    verdictTokensPerSecond: judging.length > 0 ? Math.exp(mean(judging)) : null,
  };
}

/**
 * What a sweep found. The best of many noisy numbers is too good, so those that choose the best do not judge it: the share
 * comes from rounds of their own, in which only the best few and the default run. Of those few the one counts that is best there: a
 * little in its favour, and nobody who was taken for the second best by chance is left out.
 *
 * @param entrants the default and one other at least, with as many turns of stage `verdict`
 */
export function verdictOf(entrants: readonly Measured[]): Verdict {
  const all = adjusted(entrants);
  const auto = all.find(({ thresholds }) => thresholds === null);
  const [judged] = all
    .filter((one) => one.thresholds !== null && ofStage(one, isJudging).length > 0)
    .sort((a, b) => mean(ofStage(b, isJudging)) - mean(ofStage(a, isJudging)));
  if (!auto || !judged?.thresholds)
    throw new Error('a sweep needs the default and thresholds that were judged');
  const [ours, best] = [ofStage(auto, isJudging), ofStage(judged, isJudging)];
  const differences = ours.map((rate, round) => rate - (best[round] ?? rate));
  const share = Math.exp(mean(differences));
  return {
    points: all.map(pointOf),
    best: judged.thresholds,
    bestTokensPerSecond: Math.exp(mean(best)),
    autoTokensPerSecond: Math.exp(mean(ours)),
    share,
    shareStandardError: share * standardError(differences),
  };
}
