/** Ratio of neighbouring buckets: quantiles are exact to 2 %. */
const RATIO = 1.02;
const SMALLEST_MS = 0.01;
const NUM_BUCKETS = 1024;

/** Delays of rows: their sum, number, largest, and a histogram with buckets of constant ratio. */
export class Delays {
  count = 0;
  sumMs = 0;
  largestMs = 0;
  private readonly buckets = new Float64Array(NUM_BUCKETS);

  add(delayMs: number): void {
    this.count += 1;
    this.sumMs += delayMs;
    if (delayMs > this.largestMs) this.largestMs = delayMs;
    const bucket =
      delayMs <= SMALLEST_MS ? 0 : 1 + Math.floor(Math.log(delayMs / SMALLEST_MS) / Math.log(RATIO));
    const index = Math.min(bucket, NUM_BUCKETS - 1);
    this.buckets[index] = (this.buckets[index] ?? 0) + 1;
  }

  clear(): void {
    this.count = 0;
    this.sumMs = 0;
    this.largestMs = 0;
    this.buckets.fill(0);
  }

  meanMs(): number {
    return this.count === 0 ? 0 : this.sumMs / this.count;
  }

  /** The delay that a share `q` of the rows does not exceed (the upper end of its bucket), in milliseconds. */
  quantileMs(q: number): number {
    let left = q * this.count;
    for (let bucket = 0; bucket < NUM_BUCKETS; bucket += 1) {
      left -= this.buckets[bucket] ?? 0;
      if (left <= 0) return bucket === 0 ? 0 : Math.min(this.largestMs, SMALLEST_MS * RATIO ** bucket);
    }
    return this.largestMs;
  }
}
