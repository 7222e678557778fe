import { ChangePoint } from './change-point.ts';

export interface RoutingEstimateOptions {
  /** Models of the deployment. */
  numModels: number;
  /** Outcomes after which an old one counts half, while nothing seems to change. Default 150. */
  halfLifeOutcomes?: number;
}

/** Outcomes that stand behind an estimate right after a change: the next ones weigh accordingly. */
const LEAST_WEIGHT = 1;

/**
 * Where the rows of one model's steps go and what they commit: p_ij and c_ij of the throughput model, for one i.
 *
 * Means that forget exponentially. While the outcomes fit, the memory is long, so that the estimate is quiet; where the newest
 * ones no longer fit (a likelihood ratio over the last 160), it begins anew with those since the change. So a shift is followed
 * within tens of outcomes without the noise that an equally short memory would have.
 */
export class RoutingEstimate {
  private readonly shares: number[];
  private readonly tokens: number[];
  private readonly seen: number[];
  private readonly gain: number;
  private readonly change = new ChangePoint();
  private weight = 0;
  private total = 0;

  constructor({ numModels, halfLifeOutcomes = 150 }: RoutingEstimateOptions) {
    this.gain = 1 - 2 ** (-1 / halfLifeOutcomes);
    this.shares = new Array<number>(numModels).fill(0);
    this.tokens = new Array<number>(numModels).fill(0);
    this.seen = new Array<number>(numModels).fill(0);
  }

  /** Rows behind the estimate: all since the last change. */
  get numOutcomes(): number {
    return this.total;
  }

  /**
   * Books one row.
   *
   * @param to model that the row's request went to, from 1; the own one = it stayed
   * @param tokens committed by the row
   */
  observe(to: number, tokens: number): void {
    const index = to - 1;
    if (!(index >= 0 && index < this.shares.length)) return;
    this.total += 1;
    this.change.push(index);
    this.weight = Math.min(this.weight + 1, 1 / this.gain);
    this.shares.forEach((share, j) => {
      this.shares[j] = share + ((j === index ? 1 : 0) - share) / this.weight;
    });
    const times = Math.min((this.seen[index] ?? 0) + 1, 1 / this.gain);
    this.seen[index] = times;
    this.tokens[index] = (this.tokens[index] ?? 0) + (tokens - (this.tokens[index] ?? 0)) / times;
    if (this.total % CHECK_EVERY === 0) this.followChange();
  }

  /** Shares of the rows by destination; undefined before the first outcome. Sums to 1. */
  routing(): number[] | undefined {
    if (this.weight === 0) return undefined;
    const sum = this.shares.reduce((total, share) => total + share, 0);
    return this.shares.map((share) => share / sum);
  }

  /** Mean tokens committed by destination; `otherwise` where none went there yet. */
  commits(otherwise: (to: number) => number): number[] {
    return this.tokens.map((tokens, j) => ((this.seen[j] ?? 0) > 0 ? tokens : otherwise(j + 1)));
  }

  private followChange(): void {
    const counts = this.change.countsSince(this.shares);
    if (!counts) return;
    const total = counts.reduce((sum, count) => sum + count, 0);
    this.weight = Math.max(LEAST_WEIGHT, total);
    this.total = total;
    counts.forEach((count, j) => {
      this.shares[j] = count / total;
    });
    this.change.keepNewest(total);
  }
}

/** The test for a change costs some microseconds: not after every row. */
const CHECK_EVERY = 4;
