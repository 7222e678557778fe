import type { PolicySpec } from '../create-policy.ts';
import type { Candidate } from '../planner/plan.ts';
import { RateMean } from './rate-mean.ts';

/** Windows under another plan count as so many at most: its predictions were off in another way, perhaps. */
export const MOST_INHERITED = 24;

/** A candidate with what was measured of it, as a share of what the best one gave just before: by how much it is off is 1 − mean. */
export class Arm {
  readonly candidate: Candidate;
  readonly share = new RateMean();
  /** Its place on the ladder; undefined for one that is predicted. */
  readonly place: number | undefined;
  /** See Rung. */
  readonly isForDoubt: boolean;
  /** Time for which it was tried. */
  triedMs = 0;

  constructor(candidate: Candidate, rung?: { place: number; isForDoubt: boolean }) {
    this.candidate = candidate;
    this.place = rung?.place;
    this.isForDoubt = rung?.isForDoubt ?? false;
  }

  get kinds(): string {
    return kindsOf(this.candidate.policies);
  }

  /** What it is predicted to give as a share of what `best` is. */
  predictedBeside(best: Arm): number {
    return this.candidate.tokensPerSecond / best.candidate.tokensPerSecond;
  }

  /** Standard error of its share, given the variance of one window; for when there are too few windows for one of its own. */
  errorBeside(numBestWindows: number, windowVariance: number): number {
    return Math.sqrt(windowVariance * (1 / this.share.numValues + 1 / Math.max(1, numBestWindows)));
  }

  /** Its share is taken for this from now on: the best of many is lucky in what was measured, and what is divided by it would be unlucky. */
  believe(share: number): void {
    this.share.set(share, this.share.variance, this.share.numValues);
  }

  /** The other one is the best now: what was known of it beside this one is known of this one beside it. */
  rebase(best: Arm, isFormerBest: boolean): void {
    const { mean, variance, numValues } = best.share;
    if (numValues === 0) {
      this.share.set(0, Infinity, 0);
      return;
    }
    if (isFormerBest) {
      this.share.set(1 / mean, variance / mean ** 4, numValues);
      return;
    }
    const own = this.share.mean / mean; // a quotient of two measurements: both are uncertain
    this.share.set(own, (this.share.variance + own ** 2 * variance) / mean ** 2, this.share.numValues);
  }
}

/** How far the prediction of an arm beside that of the best is off; relative, with the variance (infinite for one window) and the windows behind it. */
export interface Correction {
  factor: number;
  variance: number;
  numWindows: number;
}

/** @param best the arm whose measurement is the measure; undefined where nothing is known */
export function correctionOf(arm: Arm, best: Arm): Correction | undefined {
  if (arm === best) return { factor: 1, variance: 0, numWindows: Infinity };
  const { mean, variance, numValues } = arm.share;
  const predicted = arm.predictedBeside(best);
  if (!(predicted > 0) || !(mean > 0)) return undefined;
  return { factor: mean / predicted, variance: variance / mean ** 2, numWindows: numValues };
}

/** Begins with what the plan before tells: `own` and `ofBest` are corrections of arms like this one and like the new best. */
export function inherit(arm: Arm, best: Arm, own: Correction, ofBest: Correction): void {
  const predicted = arm.predictedBeside(best);
  const mean = (predicted * own.factor) / ofBest.factor;
  const variance = (own.variance + ofBest.variance) * mean ** 2;
  arm.share.set(mean, variance, Math.min(own.numWindows, ofBest.numWindows, MOST_INHERITED));
}

export const kindsOf = (policies: readonly PolicySpec[]): string => policies.map(({ kind }) => kind).join();
