/** Weight of the past per observation: about 200 steps count. */
const FORGETTING = 0.995;

/**
 * Prior variances of intercept and slopes. The slopes' are small beside the intercept's: as long as all steps had one number
 * of rows, their time explains itself as a constant, which is the guess that misleads least.
 */
const PRIOR: readonly number[] = [1e6, 1, 0.1];

const SIZE = 3;

/** ms ≈ a + b · rows + c · extra tokens, by recursive least squares with forgetting. */
export class AffineFit {
  private readonly theta = [0, 0, 0];
  /** Covariance, row by row. */
  private readonly p = Array.from({ length: SIZE * SIZE }, (_, i) =>
    i % (SIZE + 1) === 0 ? (PRIOR[i / (SIZE + 1)] ?? 1) : 0,
  );

  predict(rows: number, extraTokens: number): number {
    const [a = 0, b = 0, c = 0] = this.theta;
    return a + b * rows + c * extraTokens;
  }

  observe(rows: number, extraTokens: number, ms: number): void {
    const x = [1, rows, extraTokens];
    const px = x.map((_, i) => x.reduce((sum, value, j) => sum + (this.p[i * SIZE + j] ?? 0) * value, 0));
    const scale = FORGETTING + x.reduce((sum, value, i) => sum + value * (px[i] ?? 0), 0);
    const error = ms - this.predict(rows, extraTokens);
    for (let i = 0; i < SIZE; i += 1) {
      this.theta[i] = (this.theta[i] ?? 0) + ((px[i] ?? 0) / scale) * error;
      for (let j = 0; j < SIZE; j += 1) {
        const at = i * SIZE + j;
        const next = ((this.p[at] ?? 0) - ((px[i] ?? 0) * (px[j] ?? 0)) / scale) / FORGETTING;
        // Directions that nothing excites would grow without end and then follow one outlier anywhere.
        this.p[at] = i === j ? Math.min(next, PRIOR[i] ?? 1) : next;
      }
    }
  }
}
