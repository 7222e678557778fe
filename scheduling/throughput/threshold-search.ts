/** Predicted tokens per second of thresholds. */
export type Evaluate = (thresholds: readonly number[]) => number;

/** Relative gains below this are not worth a larger step of the search. */
const GAIN = 1e-5;

/** A pattern search over feasible thresholds, Σ (B_i − 1) < N, with a memory of what was evaluated. */
export class ThresholdSearch {
  /** By thresholds joined with commas. */
  private readonly known = new Map<string, { thresholds: readonly number[]; value: number }>();
  private readonly evaluate: Evaluate;
  private readonly concurrency: number;
  private readonly moves: (readonly number[])[];

  constructor(evaluate: Evaluate, numModels: number, concurrency: number) {
    this.evaluate = evaluate;
    this.concurrency = concurrency;
    this.moves = movesOf(numModels);
  }

  isFeasible(thresholds: readonly number[]): boolean {
    const held = thresholds.reduce((sum, threshold) => sum + threshold - 1, 0);
    return held < this.concurrency && thresholds.every((threshold) => threshold >= 1);
  }

  /** −Infinity where nobody could start. */
  valueOf(thresholds: readonly number[]): number {
    if (!this.isFeasible(thresholds)) return -Infinity;
    const key = thresholds.join(',');
    let found = this.known.get(key);
    if (!found) this.known.set(key, (found = { thresholds, value: this.evaluate(thresholds) }));
    return found.value;
  }

  /** What has been evaluated, best first. */
  ranking(): { thresholds: readonly number[]; value: number }[] {
    return [...this.known.values()].sort((a, b) => b.value - a.value);
  }

  /**
   * Climbs from `start` to the first better neighbour, in steps of `firstStep`, halved where nothing around is better,
   * down to 1.
   * @param isWorthIt whether thresholds may be evaluated at all
   */
  climb(
    start: readonly number[],
    firstStep: number,
    isWorthIt: (thresholds: readonly number[]) => boolean = () => true,
  ): readonly number[] {
    let best = start;
    for (let step = firstStep; step >= 1;) {
      const better = this.firstBetter(best, step, isWorthIt);
      if (better) best = better;
      else step = Math.floor(step / 2);
    }
    return best;
  }

  /** Looks first where the last gain was. */
  private firstBetter(
    from: readonly number[],
    step: number,
    isWorthIt: (thresholds: readonly number[]) => boolean,
  ): readonly number[] | undefined {
    const least = this.valueOf(from) * (1 + GAIN);
    for (const [i, move] of this.moves.entries()) {
      const next = from.map((threshold, model) => threshold + step * (move[model] ?? 0));
      if (!this.isFeasible(next) || !isWorthIt(next) || this.valueOf(next) <= least) continue;
      this.moves.splice(i, 1);
      this.moves.unshift(move);
      return next;
    }
    return undefined;
  }
}

/** One coordinate up or down; or one up and another down. */
function movesOf(numModels: number): number[][] {
  const models = Array.from({ length: numModels }, (_, i) => i);
  const unit = (model: number, size: number): number[] => models.map((i) => (i === model ? size : 0));
  const single = models.flatMap((i) => [unit(i, 1), unit(i, -1)]);
  const pairs = models.flatMap((i) =>
    models.filter((j) => j !== i).map((j) => unit(i, 1).map((size, k) => (k === j ? -1 : size))),
  );
  return [...single, ...pairs];
}
