/** Two-sided 95 % quantiles of Student's t by degrees of freedom (20 and more; between the entries the smaller df serves). */
const T_QUANTILES: readonly (readonly [number, number])[] = [
  [19, 2.093],
  [24, 2.064],
  [29, 2.045],
  [39, 2.023],
  [59, 2.001],
  [119, 1.98],
];

export interface BatchMeansOptions {
  /** Tokens before the measurement begins. */
  warmUpTokens: number;
  /** Tokens of the whole run. */
  totalTokens: number;
  /** Batches that the rest is divided into, ≥ 20. */
  numBatches: number;
}

/**
 * Throughput of a run with its confidence interval: the run after the warm-up is cut into batches of equally many tokens,
 * whose durations count as independent (batch means; Law, "Simulation Modeling and Analysis", 9.5.3).
 */
export class BatchMeans {
  private readonly options: BatchMeansOptions;
  private numTokens = 0;
  /** Virtual times at which the warm-up ended and each batch was full, with the tokens there. */
  private readonly marks: { tokens: number; atMs: number }[] = [];

  constructor(options: BatchMeansOptions) {
    this.options = options;
  }

  get tokens(): number {
    return this.numTokens;
  }

  get isWarm(): boolean {
    return this.marks.length > 0;
  }

  get isOver(): boolean {
    return this.numTokens >= this.options.totalTokens;
  }

  add(numTokens: number, nowMs: number): void {
    this.numTokens += numTokens;
    const { warmUpTokens, totalTokens, numBatches } = this.options;
    const perBatch = (totalTokens - warmUpTokens) / numBatches;
    while (this.marks.length <= numBatches && this.numTokens >= warmUpTokens + this.marks.length * perBatch)
      this.marks.push({ tokens: this.numTokens, atMs: nowMs });
  }

  /** Tokens per second after the warm-up, and half the width of its 95 % interval. */
  result(): { tokensPerSecond: number; ci95: number } {
    const first = this.marks[0];
    const last = this.marks.at(-1);
    if (!first || !last || last === first) return { tokensPerSecond: NaN, ci95: NaN };
    const tokensPerSecond = (1000 * (last.tokens - first.tokens)) / (last.atMs - first.atMs);
    // Residuals of the ratio estimator: each batch's time less what its tokens take at the mean speed.
    const residuals = this.marks.slice(1).map(({ tokens, atMs }, i) => {
      const before = this.marks[i] ?? first;
      return atMs - before.atMs - ((tokens - before.tokens) * 1000) / tokensPerSecond;
    });
    const n = residuals.length;
    const variance = residuals.reduce((sum, r) => sum + r * r, 0) / (n - 1);
    const relative = (quantile(n - 1) * Math.sqrt(n * variance)) / (last.atMs - first.atMs);
    return { tokensPerSecond, ci95: tokensPerSecond * relative };
  }
}

function quantile(degrees: number): number {
  let value = Infinity;
  for (const [least, t] of T_QUANTILES) if (degrees >= least) value = t;
  return value;
}
