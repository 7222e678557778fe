import { linearFit } from './linear-fit.ts';

/** Two-sided 95 % quantiles of Student's t by degrees of freedom; between the entries that of the smaller serves. */
const T_QUANTILES: readonly (readonly [number, number])[] = [
  [1, 12.706],
  [2, 4.303],
  [5, 2.571],
  [10, 2.228],
  [19, 2.093],
  [24, 2.064],
  [29, 2.045],
  [34, 2.032],
  [39, 2.023],
  [59, 2.001],
  [119, 1.98],
];

export interface BatchMeansOptions {
  /** Tokens before the measurement begins. */
  warmUpTokens: number;
  /** Tokens of the whole run. */
  totalTokens: number;
  /** Batches that the rest is divided into. */
  numBatches: number;
}

export interface Estimate {
  tokensPerSecond: number;
  /** Half the width of the 95 % interval. */
  ci95: number;
}

interface Mark {
  tokens: number;
  atMs: number;
  counts: readonly number[];
}

/**
 * Throughput of a run with its confidence interval: the run after the warm-up is cut into batches of equally many
 * tokens, whose durations count as independent (batch means; Law, "Simulation Modeling and Analysis", 9.5.3).
 */
export class BatchMeans {
  private readonly options: BatchMeansOptions;
  private readonly countsOf: () => readonly number[];
  private numTokens = 0;
  /** Where the warm-up ended, and each batch. */
  private readonly marks: Mark[] = [];

  /** @param countsOf what to count beside tokens, for {@link controlled} */
  constructor(options: BatchMeansOptions, countsOf: () => readonly number[] = () => []) {
    this.options = options;
    this.countsOf = countsOf;
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
      this.marks.push({ tokens: this.numTokens, atMs: nowMs, counts: this.countsOf() });
  }

  /** Tokens over time after the warm-up, as they were. */
  plain(): Estimate {
    return this.regressed([]);
  }

  /**
   * The same, freed of the luck of the draws (control variates; Law, 11.4): the counts per token have known means, and
   * what the batches' durations owe to deviations from them is taken out by regression.
   * Where that gains nothing (nothing was counted, or too little to say what it costs), the plain estimate stands.
   * @param perToken expected counts per token; those left out are not used
   */
  controlled(perToken: readonly number[]): Estimate {
    const [first, last] = [this.marks[0], this.marks.at(-1)];
    const counted = perToken.flatMap((mean, k) =>
      (last?.counts[k] ?? 0) > (first?.counts[k] ?? 0) ? [{ mean, k }] : [],
    );
    const plain = this.plain();
    const controlled = this.regressed(counted);
    return controlled.ci95 < plain.ci95 ? controlled : plain;
  }

  private regressed(controls: readonly { mean: number; k: number }[]): Estimate {
    const first = this.marks[0];
    const last = this.marks.at(-1);
    if (!first || !last || this.marks.length <= controls.length + 2)
      return { tokensPerSecond: NaN, ci95: NaN };
    const elapsedMs = last.atMs - first.atMs;
    const numTokens = last.tokens - first.tokens;
    const batches = this.marks.slice(1).map((mark, i) => ({ mark, before: this.marks[i] ?? first }));
    // Residuals of the ratio estimator: a batch's time less what its tokens take at the mean speed.
    const durations = batches.map(
      ({ mark, before }) => mark.atMs - before.atMs - ((mark.tokens - before.tokens) * elapsedMs) / numTokens,
    );
    const deviations = controls.map(({ mean, k }) =>
      batches.map(
        ({ mark, before }) =>
          (mark.counts[k] ?? 0) - (before.counts[k] ?? 0) - mean * (mark.tokens - before.tokens),
      ),
    );
    const n = batches.length;
    const fit = linearFit(durations, deviations);
    const degrees = n - 1 - controls.length;
    const correctedMs = elapsedMs + n * fit.intercept;
    const tokensPerSecond = (1000 * numTokens) / correctedMs;
    const deviation = Math.sqrt((fit.squares / degrees) * fit.interceptLeverage);
    return { tokensPerSecond, ci95: (tokensPerSecond * quantile(degrees) * n * deviation) / correctedMs };
  }
}

function quantile(degrees: number): number {
  let value = Infinity;
  for (const [least, t] of T_QUANTILES) if (degrees >= least) value = t;
  return value;
}
