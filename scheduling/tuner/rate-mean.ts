/** Share of a new value in the mean, at least: contexts grow and loads change, and the first hour must not weigh for ever. */
const LEAST_WEIGHT = 1 / 200;

/** Mean and its variance over values of which the last 200 or so count most. */
export class RateMean {
  private count = 0;
  private average = 0;
  private spread = 0;

  get numValues(): number {
    return this.count;
  }

  /** 0 before the first value. */
  get mean(): number {
    return this.average;
  }

  /** Variance of the mean; infinite before the second value. */
  get variance(): number {
    return this.count < 2 ? Infinity : this.spread / (this.numEffective - 1);
  }

  /** As if so many values had given this mean, with this variance of it. */
  set(mean: number, variance: number, numValues: number): void {
    this.count = numValues;
    this.average = mean;
    this.spread = Number.isFinite(variance) ? variance * (this.numEffective - 1) : 0;
  }

  observe(value: number): void {
    this.count += 1;
    const weight = Math.max(1 / this.count, LEAST_WEIGHT);
    const difference = value - this.average;
    this.average += weight * difference;
    this.spread = (1 - weight) * (this.spread + weight * difference ** 2);
  }

  private get numEffective(): number {
    return Math.min(this.count, 2 / LEAST_WEIGHT - 1);
  }
}
