/** Values that the running median looks at: two outliers among them change nothing. */
const MEDIAN_OF = 5;
/** What is off by this share of the mean is far. */
const FAR = 0.5;
/** A value that is not far counts against a new level as so many that are. */
const AGAINST = 2;

/** How a mean follows its values. */
export interface Pace {
  /** Share of a new median in the mean, once there are enough of them. */
  weight: number;
  /** So many values far off on the same side, or more where others come between, are a new level: the mean begins anew there. */
  levelValues: number;
}

/** Of values that hardly scatter. */
export const QUICK: Pace = { weight: 0.1, levelValues: 3 };
/**
 * Of values that scatter: else all that follows from the mean follows the noise. Where a quarter of them are far off, as with steps
 * of less than a millisecond on a busy machine, even medians of five are so ten times a second.
 */
export const SLOW: Pace = { weight: 0.02, levelValues: 12 };

/**
 * Mean of a stream with outliers: an exponential mean over running medians of five. Exact for constants; a lasting change
 * passes as soon as it counts as a new level.
 */
export class RobustMean {
  private readonly recent: number[] = [];
  private mean = 0;
  private count = 0;
  /** Cumulative sums: evidence for a level above the mean, and for one below. */
  private above = 0;
  private below = 0;

  get numValues(): number {
    return this.count;
  }

  /** 0 before the first value. */
  get value(): number {
    return this.mean;
  }

  observe(value: number, { weight, levelValues }: Pace): void {
    this.count += 1;
    this.recent.push(value);
    if (this.recent.length > MEDIAN_OF) this.recent.shift();
    const typical = median(this.recent);
    this.above = evidence(this.above, value > (1 + FAR) * this.mean);
    this.below = evidence(this.below, value < (1 - FAR) * this.mean);
    // The first medians are of few values: they are replaced, not averaged. And following a new level slowly (another load format,
    // a throttled device) helps nobody.
    if (this.count <= MEDIAN_OF || Math.max(this.above, this.below) >= levelValues) {
      this.mean = typical;
      this.above = this.below = 0;
    } else this.mean += (typical - this.mean) * Math.max(weight, 1 / this.count);
  }
}

const evidence = (sum: number, isFar: boolean): number => Math.max(0, sum + (isFar ? 1 : -AGAINST));

/** The middle value; of an even number the lower middle, so that an outlier among two is never taken half. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
}
