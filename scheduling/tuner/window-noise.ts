/** Variance of a window's rate, relative, before any was measured: a tenth. */
const PRIOR_VARIANCE = 0.01;
/** That counts as so many windows. */
const PRIOR_WINDOWS = 4;
const LEAST_WEIGHT = 0.02;

/**
 * How much the rates of windows scatter about their means, over all arms together: an arm of three windows has no variance of
 * its own that deserves the name.
 */
export class WindowNoise {
  private count = PRIOR_WINDOWS;
  private value = PRIOR_VARIANCE;

  /** Relative, of one window. */
  get variance(): number {
    return this.value;
  }

  /**
   * @param deviation of a window from the mean of those before, relative
   * @param numBefore how many these were, 1 at least
   */
  observe(deviation: number, numBefore: number): void {
    this.count += 1;
    const weight = Math.max(1 / this.count, LEAST_WEIGHT);
    this.value += weight * ((deviation ** 2 * numBefore) / (numBefore + 1) - this.value);
  }
}
