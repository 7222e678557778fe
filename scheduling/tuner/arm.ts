import type { Candidate } from '../planner/plan.ts';

/** Share of a window in the mean, at least: contexts grow and loads change, and the first hour must not weigh for ever. */
const LEAST_WEIGHT = 1 / 200;

/** A candidate with what was measured of it: committed tokens per second, by window. */
export class Arm {
  readonly candidate: Candidate;
  private count = 0;
  private average = 0;
  private spread = 0;

  constructor(candidate: Candidate) {
    this.candidate = candidate;
  }

  get numWindows(): number {
    return this.count;
  }

  /** Mean rate over its windows, the last 200 or so counting most; 0 before the first. */
  get mean(): number {
    return this.average;
  }

  /** Variance of the mean; infinite before the second window. */
  get variance(): number {
    const numEffective = Math.min(this.count, 2 / LEAST_WEIGHT - 1);
    return this.count < 2 ? Infinity : this.spread / (numEffective - 1);
  }

  observe(tokensPerSecond: number): void {
    this.count += 1;
    const weight = Math.max(1 / this.count, LEAST_WEIGHT);
    const difference = tokensPerSecond - this.average;
    this.average += weight * difference;
    this.spread = (1 - weight) * (this.spread + weight * difference ** 2);
  }
}

/** By how many standard errors `a` is measured above `b`; 0 where that cannot be said. */
export function standardErrorsAbove(a: Arm, b: Arm): number {
  const variance = a.variance + b.variance;
  if (!Number.isFinite(variance)) return 0;
  return variance > 0 ? (a.mean - b.mean) / Math.sqrt(variance) : Math.sign(a.mean - b.mean) * Infinity || 0;
}
