import type { Problem } from '../lib/problems.ts';
import type { Algorithm } from './algorithms.ts';
import { homeSignals, outcomeOf, withRouters, type Run } from './answers.ts';
import {
  chosenPoint,
  nearestPoints,
  refinedThreshold,
  thresholdFor,
  type Calibrated,
} from './calibration.ts';
import { atThreshold, LARGE, silentThreshold, SMALL, type Candidate } from './candidate.ts';
import { percent } from './format.ts';
import { pointOf } from './outcome.ts';

/** A threshold as the validation problems saw it. */
export interface ValidationPoint extends Calibrated {
  candidate: Candidate;
}

/** What is known of an algorithm before the reported problems are read. */
export interface CalibratedAlgorithm {
  algorithm: Algorithm;
  points: ValidationPoint[];
  /** The operating point; undefined where no threshold kept the share. */
  chosen: ValidationPoint | undefined;
  /** The points to report, the chosen one among them. */
  reported: ValidationPoint[];
}

export interface Calibration {
  algorithms: CalibratedAlgorithm[];
  smallAccuracy: number;
  largeAccuracy: number;
  problems: number;
}

export interface CalibrateOptions {
  algorithms: readonly Algorithm[];
  problems: readonly Problem[];
  concurrency: number;
  shares: readonly number[];
  reportShares: readonly number[];
  maxShare: number;
  log: (line: string) => void;
}

/** An extra threshold aims a little below the largest share, since other problems may take more. */
const AIM = 0.96;
const TOLERANCE = 0.035;
/** Digits of a threshold. */
const PRECISION = 9;

/** What a signal comes from: the network's file, or nothing but the logits. */
const signalOf = ({ head }: Algorithm): string => head ?? 'entropy';

interface Alone {
  /** Signals of the small model's tokens, by {@link signalOf}. */
  signals: Map<string, number[]>;
  small: Run;
  large: Run;
}

/** Both models alone, and each network where it hands nothing over: its signals. */
async function runAlone({ algorithms, problems, concurrency, log }: CalibrateOptions): Promise<Alone> {
  const networks = new Map(
    algorithms
      .filter(({ head }) => head !== undefined)
      .reverse() // of two with the same network the first gives the name
      .map((one) => [signalOf(one), one]),
  );
  const silent = [...networks.values()].map((algorithm) => ({
    algorithm,
    candidate: atThreshold(algorithm, silentThreshold(algorithm)),
  }));
  const candidates = [SMALL, LARGE, ...silent.map(({ candidate }) => candidate)];
  return withRouters(candidates, async (deployed) => {
    const answer = (candidate: Candidate): Promise<Run> => {
      log(`  ${candidate.id}`);
      return deployed.answer(candidate, problems, concurrency);
    };
    const small = await answer(SMALL);
    const large = await answer(LARGE);
    const signals = new Map([['entropy', homeSignals(small, 1)]]);
    for (const { algorithm, candidate } of silent) {
      const run = await answer(candidate);
      signals.set(signalOf(algorithm), homeSignals(run, silentThreshold(algorithm)));
    }
    return { signals, small, large };
  });
}

/** Runs candidates on the validation problems. */
function validate(candidates: readonly Candidate[], options: CalibrateOptions): Promise<ValidationPoint[]> {
  const { problems, concurrency, log } = options;
  return withRouters(candidates, async (deployed) => {
    const points: ValidationPoint[] = [];
    for (const candidate of candidates) {
      const run = await deployed.answer(candidate, problems, concurrency);
      const { share, accuracy } = pointOf(outcomeOf(run));
      points.push({ candidate, threshold: candidate.threshold ?? NaN, share, accuracy });
      log(`  ${candidate.id}: ${percent(accuracy)} with ${percent(share)} of the tokens from large`);
    }
    return points;
  });
}

const round = (threshold: number): number =>
  Math.min(1, Math.max(0, Number(threshold.toPrecision(PRECISION))));

function gridOf(algorithm: Algorithm, signals: readonly number[], shares: readonly number[]): Candidate[] {
  const thresholds = shares.map((share) => round(thresholdFor(signals, share, algorithm.side)));
  return [...new Set(thresholds)].map((threshold) => atThreshold(algorithm, threshold));
}

/**
 * Chooses thresholds on the validation problems alone: quantiles of the signals, each run; one more where none came near
 * the largest share; the operating point by accuracy.
 */
export async function calibrate(options: CalibrateOptions): Promise<Calibration> {
  const { algorithms, shares, reportShares, maxShare, log } = options;
  log(`validation, ${options.problems.length} problems: models alone and signals`);
  const { signals, small, large } = await runAlone(options);
  log('validation: thresholds by quantiles of the signals');
  const grid = algorithms.flatMap((one) => gridOf(one, signals.get(signalOf(one)) ?? [], shares));
  const points = grid.length === 0 ? [] : await validate(grid, options);
  const pointsOf = ({ name }: Algorithm): ValidationPoint[] =>
    points.filter(({ candidate }) => candidate.algorithm === name);
  const extra = algorithms.flatMap((algorithm) => {
    const threshold = refinedThreshold(pointsOf(algorithm), AIM * maxShare, TOLERANCE);
    return threshold === undefined ? [] : [atThreshold(algorithm, round(threshold))];
  });
  if (extra.length > 0) {
    log('validation: one more threshold each, just below the largest share');
    points.push(...(await validate(extra, options)));
  }
  return {
    problems: options.problems.length,
    smallAccuracy: pointOf(outcomeOf(small)).accuracy,
    largeAccuracy: pointOf(outcomeOf(large)).accuracy,
    algorithms: algorithms.map((algorithm) => {
      const own = pointsOf(algorithm).sort((a, b) => a.share - b.share);
      const chosen = chosenPoint(own, maxShare);
      const near = nearestPoints(own, reportShares);
      const reported = own.filter((point) => point === chosen || near.includes(point));
      return { algorithm, points: own, chosen, reported };
    }),
  };
}
