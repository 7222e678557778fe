/** Share of a new measurement in the running mean. */
const WEIGHT = 0.2;

/** Running mean of step times by number of rows: what a beacon announces as the time left of a step. */
export class StepTimeEstimate {
  private readonly meanMs = new Map<number, number>();

  observe(rows: number, stepMs: number): void {
    const before = this.meanMs.get(rows);
    this.meanMs.set(rows, before === undefined ? stepMs : before + WEIGHT * (stepMs - before));
  }

  /** Expected time of a step with `rows` rows; that of the nearest number of rows seen so far, else 0. */
  expectMs(rows: number): number {
    let best = 0;
    let bestDistance = Infinity;
    for (const [seen, meanMs] of this.meanMs) {
      const distance = Math.abs(seen - rows);
      if (distance < bestDistance) {
        bestDistance = distance;
        best = meanMs;
      }
    }
    return best;
  }
}
