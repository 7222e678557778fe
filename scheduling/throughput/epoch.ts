import { ArrivalTable } from './arrivals.ts';
import type { CompleteSpec } from './chain-spec.ts';
import type { ChainState } from './starter.ts';

/**
 * What happens from one epoch to the next: the shortest steps end, their requests are routed. Before the starts,
 * so that a policy (or all of them, for the optimum) may be applied to what it emits.
 */
export class EpochStep {
  /** Ticks until the epoch, contention included; 0 where nobody runs. Of the last {@link expand}. */
  ticks = 0;
  /** Tokens committed at the epoch, on average. Of the last {@link expand}. */
  tokens = 0;
  private readonly laws: ArrivalTable;
  private readonly tokensPerRow: Float64Array;
  private readonly overlapFactor: number;
  private readonly numModels: number;
  /** Models whose steps end. */
  private readonly ending: Int32Array;
  private readonly endingRows: Int32Array;
  private readonly before: Int32Array;
  private readonly next: Int32Array;

  /** @param negligible ways of routing no likelier than this are left out; 0 = exact */
  constructor(spec: CompleteSpec, negligible = 0) {
    this.numModels = spec.stepMs.length;
    this.laws = new ArrivalTable(spec.routing, negligible);
    this.overlapFactor = spec.overlapFactor;
    this.tokensPerRow = Float64Array.from(spec.routing, (row, i) =>
      row.reduce((sum, p, j) => sum + p * (spec.commits[i]?.[j] ?? 0), 0),
    );
    this.ending = new Int32Array(this.numModels);
    this.endingRows = new Int32Array(this.numModels);
    this.before = new Int32Array(3 * this.numModels);
    this.next = new Int32Array(3 * this.numModels);
  }

  /**
   * Emits each way the next epoch can turn out, as the state before the starts. `emit` may change the array that it
   * is given but not keep it.
   */
  expand(state: ChainState, emit: (beforeStarts: ChainState, probability: number) => void): void {
    const numEnding = this.complete(state);
    if (numEnding > 0) this.route(0, numEnding, 1, emit);
  }

  /** Lets time pass to the next completions. Returns how many models complete. */
  private complete(state: ChainState): number {
    const { before } = this;
    let shortest = 0;
    let numRunning = 0;
    for (let at = 0; at < before.length; at += 3) {
      if (state[at + 1] === 0) continue;
      const left = state[at + 2] ?? 0;
      if (numRunning === 0 || left < shortest) shortest = left;
      numRunning += 1;
    }
    this.ticks = numRunning > 1 ? shortest / this.overlapFactor : shortest;
    this.tokens = 0;
    before.set(state);
    let numEnding = 0;
    for (let model = 0; model < this.numModels; model += 1) {
      const rows = state[3 * model + 1] ?? 0;
      if (rows === 0) continue;
      const left = (state[3 * model + 2] ?? 0) - shortest;
      before[3 * model + 2] = left;
      if (left > 0) continue;
      before[3 * model + 1] = 0;
      this.tokens += rows * (this.tokensPerRow[model] ?? 0);
      this.ending[numEnding] = model;
      this.endingRows[numEnding] = rows;
      numEnding += 1;
    }
    return numEnding;
  }

  private route(
    index: number,
    numEnding: number,
    probability: number,
    emit: (beforeStarts: ChainState, probability: number) => void,
  ): void {
    if (index === numEnding) {
      this.next.set(this.before);
      emit(this.next, probability);
      return;
    }
    const { before, numModels } = this;
    const law = this.laws.of(this.ending[index] ?? 0, this.endingRows[index] ?? 0);
    for (let outcome = 0; outcome < law.numOutcomes; outcome += 1) {
      const at = outcome * numModels;
      for (let to = 0; to < numModels; to += 1)
        before[3 * to] = (before[3 * to] ?? 0) + (law.counts[at + to] ?? 0);
      this.route(index + 1, numEnding, probability * (law.probability[outcome] ?? 0), emit);
      for (let to = 0; to < numModels; to += 1)
        before[3 * to] = (before[3 * to] ?? 0) - (law.counts[at + to] ?? 0);
    }
  }
}
