/** Outcomes that are looked at for a change. */
const WINDOW = 160;
/** Fewer outcomes than this after a change prove nothing. */
const LEAST_AFTER = 12;
/** Log-likelihood that a change must gain: many splits are tried, and a false alarm costs a quiet estimate. */
const LEAST_GAIN = 12;
/** Splits that are tried lie this many outcomes apart. */
const STRIDE = 4;

/**
 * Remembers the newest outcomes of a categorical draw and tells since when they no longer fit a given distribution: the
 * split that gains most likelihood.
 */
export class ChangePoint {
  private readonly recent: number[] = [];

  push(outcome: number): void {
    this.recent.push(outcome);
    if (this.recent.length > WINDOW) this.recent.shift();
  }

  /**
   * Outcome counts since the change, newest outcomes only; undefined where `probabilities` explain everything.
   *
   * @param probabilities of the outcomes 0, 1, … so far
   */
  countsSince(probabilities: readonly number[]): number[] | undefined {
    const counts = probabilities.map(() => 0);
    let best: number[] | undefined;
    let bestGain = LEAST_GAIN;
    for (let age = 1; age <= this.recent.length; age += 1) {
      const outcome = this.recent[this.recent.length - age] ?? 0;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      if (age < LEAST_AFTER || age % STRIDE !== 0) continue;
      const gain = likelihoodGain(counts, age, probabilities);
      if (gain <= bestGain) continue;
      bestGain = gain;
      best = [...counts];
    }
    return best;
  }

  /** Outcomes before a change say nothing about what follows it. */
  keepNewest(length: number): void {
    this.recent.splice(0, Math.max(0, this.recent.length - length));
  }
}

/** log P(counts | their own frequencies) − log P(counts | probabilities): n times a Kullback–Leibler divergence. */
function likelihoodGain(counts: readonly number[], total: number, probabilities: readonly number[]): number {
  let gain = 0;
  counts.forEach((count, outcome) => {
    // Half an outcome at least: what was never seen is unlikely, not impossible.
    const before = Math.max(probabilities[outcome] ?? 0, 0.5 / (total + 200));
    if (count > 0) gain += count * Math.log(count / total / before);
  });
  return gain;
}
