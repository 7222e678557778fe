import type { Candidate } from '../planner/plan.ts';

/** A candidate with what was measured of it: committed tokens per second, by window. */
export class Arm {
  readonly candidate: Candidate;
  private count = 0;
  private average = 0;
  private squares = 0;

  constructor(candidate: Candidate) {
    this.candidate = candidate;
  }

  get numWindows(): number {
    return this.count;
  }

  /** Mean rate over its windows; 0 before the first. */
  get mean(): number {
    return this.average;
  }

  /** Variance of the mean; infinite before the second window. */
  get variance(): number {
    return this.count < 2 ? Infinity : this.squares / (this.count - 1) / this.count;
  }

  observe(tokensPerSecond: number): void {
    this.count += 1;
    const before = this.average;
    this.average += (tokensPerSecond - before) / this.count;
    this.squares += (tokensPerSecond - before) * (tokensPerSecond - this.average);
  }
}

/** By how many standard errors `a` is measured above `b`; 0 where that cannot be said. */
export function standardErrorsAbove(a: Arm, b: Arm): number {
  const variance = a.variance + b.variance;
  if (!Number.isFinite(variance)) return 0;
  return variance > 0 ? (a.mean - b.mean) / Math.sqrt(variance) : Math.sign(a.mean - b.mean) * Infinity || 0;
}
