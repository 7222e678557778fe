import { twoSlopes } from './two-slopes.ts';

/** Weight of the past per observation: about 200 steps count. */
const FORGETTING = 0.995;

/**
 * So many squared rows, and squared extra tokens, of evidence for slopes of 0. As long as all steps had nearly one number of
 * rows, their time explains itself as a constant, which is the guess that misleads least.
 */
const RIDGE: readonly [number, number] = [1, 10];

/**
 * ms ≈ a + b · rows + c · extra tokens, with forgetting, none of the slopes negative: a step with more to do takes no less
 * time. Ridge regression on decayed moments about the mean. (The recursive form with a bounded covariance is not stable:
 * steps of one size for a while, and it follows the rests of floating-point differences anywhere.)
 */
export class AffineFit {
  private weight = 0;
  private readonly mean: [number, number, number] = [0, 0, 0];
  /** Σ w (x − mean)(y − mean) over rows, extra tokens and ms: rr, rt, rm, tt, tm. */
  private readonly moments: [number, number, number, number, number] = [0, 0, 0, 0, 0];

  predict(rows: number, extraTokens: number): number {
    const [perRow, perToken] = this.slopes();
    const [meanRows, meanExtra, meanMs] = this.mean;
    return meanMs + perRow * (rows - meanRows) + perToken * (extraTokens - meanExtra);
  }

  /** Milliseconds that one more token takes; ≥ 0. */
  get perTokenMs(): number {
    return this.slopes()[1];
  }

  observe(rows: number, extraTokens: number, ms: number): void {
    const { mean, moments } = this;
    const past = this.weight * FORGETTING;
    this.weight = past + 1;
    const [r, t, m] = [rows - mean[0], extraTokens - mean[1], ms - mean[2]];
    const spread = past / this.weight; // of the new deviations, about the mean that they move
    const products = [r * r, r * t, r * m, t * t, t * m];
    for (const [i, product] of products.entries())
      moments[i] = (moments[i] ?? 0) * FORGETTING + spread * product;
    mean[0] += r / this.weight;
    mean[1] += t / this.weight;
    mean[2] += m / this.weight;
  }

  /** The ridge solution; where one slope comes out negative, it is 0 and the other one is fitted alone. */
  private slopes(): [number, number] {
    const [rr, rt, rm, tt, tm] = this.moments;
    const [a, d] = [rr + RIDGE[0], tt + RIDGE[1]];
    const [perRow, perToken] = twoSlopes(a, rt, d, rm, tm);
    if (perRow >= 0 && perToken >= 0) return [perRow, perToken];
    const alone: [number, number] = [Math.max(0, rm / a), Math.max(0, tm / d)];
    return perRow < 0 ? [0, alone[1]] : [alone[0], 0];
  }
}
