/** Share of a new step in the running moments: about 100 steps count. */
const WEIGHT = 0.02;
/** Before as many steps nothing is claimed. */
const LEAST_STEPS = 40;
/** The claim must be as many of its standard errors away from "no contention". */
const LEAST_ERRORS = 3;
/** A step tells something if its overlap differs from the usual by this share of its time. */
const LEAST_SPREAD = 0.1;
const LOWEST_FACTOR = 0.3;

/** Exponential moments of (overlap, time) for steps of one number of rows. */
interface Moments {
  overlap: number;
  time: number;
  count: number;
}

/**
 * How much a step is slowed down while other models run: φ of the throughput model. A step of work L that overlaps with others
 * for o milliseconds takes L + (1 − φ) · o. So φ is one minus the slope of the step time over the overlap, within steps of the
 * same number of rows; models on devices of their own give a slope of 0.
 */
export class OverlapEstimate {
  private readonly byRows = new Map<number, Moments>();
  private variance = 0;
  private covariance = 0;
  private timeVariance = 0;
  private numSteps = 0;

  observe(rows: number, ms: number, overlapMs: number): void {
    const known = this.byRows.get(rows);
    if (!known) {
      this.byRows.set(rows, { overlap: overlapMs, time: ms, count: 1 });
      return;
    }
    const over = overlapMs - known.overlap;
    const late = ms - known.time;
    known.count += 1;
    const share = Math.max(WEIGHT, 1 / known.count);
    known.overlap += over * share;
    known.time += late * share;
    if (Math.abs(late) > 2 * known.time) return; // an outlier says nothing about contention
    // Steps that overlap as ever teach nothing, and must not wash out what others taught: models that take turns never do.
    if (Math.abs(over) < LEAST_SPREAD * known.time) return;
    this.numSteps += 1;
    const weight = Math.max(WEIGHT / 2, 1 / this.numSteps);
    this.variance += (over * over - this.variance) * weight;
    this.covariance += (over * late - this.covariance) * weight;
    this.timeVariance += (late * late - this.timeVariance) * weight;
  }

  /**
   * φ in [0.3, 1], from steps that differ in their overlap.
   *
   * @param otherwise what holds until there are enough of them
   */
  factor(otherwise = 1): number {
    if (this.numSteps < LEAST_STEPS) return otherwise;
    const slope = this.covariance / this.variance;
    const unexplained = Math.max(0, this.timeVariance - slope * this.covariance);
    const effective = Math.min(this.numSteps, 2 / WEIGHT);
    const error = Math.sqrt(unexplained / this.variance / effective);
    return slope > LEAST_ERRORS * error ? Math.min(1, Math.max(LOWEST_FACTOR, 1 - slope)) : 1;
  }
}
