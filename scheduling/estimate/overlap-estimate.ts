/** Informative steps that are remembered: where steps scatter by a third, fewer tell nothing. */
const NUM_KEPT = 1024;
/** The newest so many of them count, or twice, four times … as many until the error is no larger than this. */
const NUM_NEWEST = 128;
const SMALL_ERROR = 0.03;
/** Beyond those, the factor is computed anew after so many more of them. */
const EVERY = 8;
/** The equation for the slowdown contains it; so often it is put in again. */
const NUM_ROUNDS = 6;
/** Share of a new step in the usual overlap and speed of steps with as many rows. */
const USUAL_WEIGHT = 0.02;
/** Before as many informative steps nothing is claimed. */
const LEAST_STEPS = 40;
/** The claim must be as many of its standard errors away from "no contention" … */
const LEAST_ERRORS = 3;
/** … and once made stands until it is fewer: a factor that comes and goes with the noise changes every plan. */
const LEAST_ERRORS_KEPT = 1;
/** A step tells something if the overlapped part of it differs from the usual by this share of the step. */
const LEAST_SPREAD = 0.1;
const LOWEST_FACTOR = 0.3;

/** The usual step with one number of rows: how much of it overlaps, and its speed, one over its time. */
interface Usual {
  overlap: number;
  speed: number;
  count: number;
}

/** How a step differed from the usual one with as many rows. */
interface Deviation {
  /** In the share that overlapped. */
  overlap: number;
  /** In speed, relative. */
  speed: number;
  /** What was usual. */
  usualOverlap: number;
}

/**
 * How much a step is slowed down while other models run: φ of the throughput model. A step of work L that overlaps with others
 * during a share f of its time d does the work L = d (1 − (1 − φ) f). So one over its time falls linearly with f, by 1 − φ of what
 * it is without overlap; models on devices of their own give a slope of 0.
 *
 * Shares and not times of overlap: a step that takes long for another reason overlaps for longer, too, and a regression on times
 * would take that for contention.
 */
export class OverlapEstimate {
  private readonly byRows = new Map<number, Usual>();
  private readonly informative: Deviation[] = [];
  private lost = 0;
  private numNew = 0;

  observe(rows: number, ms: number, overlapMs: number): void {
    if (!(ms > 0)) return;
    const share = Math.min(1, overlapMs / ms);
    const usual = this.byRows.get(rows) ?? { overlap: share, speed: 1 / ms, count: 0 };
    this.byRows.set(rows, usual);
    const over = share - usual.overlap;
    const faster = 1 / ms / usual.speed - 1;
    const { overlap } = usual;
    usual.count += 1;
    const weight = Math.max(USUAL_WEIGHT, 1 / usual.count);
    usual.overlap += over * weight;
    usual.speed += (1 / ms - usual.speed) * weight;
    // Steps that overlap as ever teach nothing, and must not wash out what others taught: models that take turns never do.
    if (Math.abs(over) < LEAST_SPREAD) return;
    this.informative.push({ overlap: over, speed: faster, usualOverlap: overlap });
    if (this.informative.length > NUM_KEPT) this.informative.shift();
    this.numNew += 1;
  }

  /**
   * φ in [0.3, 1], from steps that differ in their overlap.
   *
   * @param otherwise what holds until there are enough of them
   */
  factor(otherwise = 1): number {
    if (this.informative.length < LEAST_STEPS) return otherwise;
    if (this.numNew >= (this.informative.length > NUM_NEWEST ? EVERY : 1)) {
      this.numNew = 0;
      const { lost, error } = this.fromNewest();
      const isClaimed = lost > (this.lost > 0 ? LEAST_ERRORS_KEPT : LEAST_ERRORS) * error;
      this.lost = isClaimed ? lost : 0;
    }
    return 1 - this.lost;
  }

  private fromNewest(): Lost {
    for (let count = NUM_NEWEST; ; count *= 2) {
      const found = lostShare(this.informative.slice(-count));
      if (found.error <= SMALL_ERROR || count >= this.informative.length) return found;
    }
  }
}

/** 1 − φ, and its standard error. */
interface Lost {
  lost: number;
  error: number;
}

/**
 * By least squares. Deviations of the speed are relative to the speed at the usual overlap u, which is 1 − (1 − φ) u of the one
 * without any.
 */
function lostShare(steps: readonly Deviation[]): Lost {
  const variance = steps.reduce((sum, { overlap }) => sum + overlap * overlap, 0);
  let lost = 0;
  let squares = 0;
  for (let round = 0; round < NUM_ROUNDS; round += 1) {
    let covariance = 0;
    squares = 0;
    for (const { overlap, speed, usualOverlap } of steps) {
      const relative = speed * (1 - lost * usualOverlap);
      covariance += overlap * relative;
      squares += (relative + lost * overlap) ** 2;
    }
    lost = Math.min(1 - LOWEST_FACTOR, Math.max(0, -covariance / variance));
  }
  return { lost, error: Math.sqrt(squares / steps.length / variance) };
}
