/** Values that the running median looks at: two outliers among them change nothing. */
const MEDIAN_OF = 5;
/** Share of a new median in the mean, unless it is said. */
const WEIGHT = 0.1;

/**
 * Mean of a stream with outliers: an exponential mean over running medians of five. Exact for constants; a lasting change
 * passes after three values.
 */
export class RobustMean {
  private readonly recent: number[] = [];
  private mean = 0;
  private count = 0;

  get numValues(): number {
    return this.count;
  }

  /** 0 before the first value. */
  get value(): number {
    return this.mean;
  }

  /** @param weight share of the new median in the mean, once there are enough of them */
  observe(value: number, weight = WEIGHT): void {
    this.count += 1;
    this.recent.push(value);
    if (this.recent.length > MEDIAN_OF) this.recent.shift();
    const typical = median(this.recent);
    // The first medians are of few values: they are replaced, not averaged.
    if (this.count <= MEDIAN_OF || !isNear(typical, this.mean)) this.mean = typical;
    else this.mean += (typical - this.mean) * Math.max(weight, 1 / this.count);
  }
}

/** A median far off is a new level (another load format, a throttled device): following it slowly helps nobody. */
function isNear(typical: number, mean: number): boolean {
  return Math.abs(typical - mean) <= 0.5 * Math.abs(mean);
}

/** The middle value; of an even number the lower middle, so that an outlier among two is never taken half. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
