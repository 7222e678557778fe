/** Another value counts at once when it differs by more than this share (and one) … */
const LARGE_SHARE = 0.1;
/** … else when it has lasted for so long: a finished request is often replaced at once. */
const LASTING_MS = 200;

/** A count without its flicker. */
export class SteadyCount {
  private steady = 0;
  private changedMs: number | undefined;

  get value(): number {
    return this.steady;
  }

  observe(count: number, nowMs: number): void {
    if (count === this.steady) {
      this.changedMs = undefined;
      return;
    }
    this.changedMs ??= nowMs;
    const isLarge = Math.abs(count - this.steady) > Math.max(1, LARGE_SHARE * this.steady);
    if (!isLarge && nowMs - this.changedMs < LASTING_MS) return;
    this.steady = count;
    this.changedMs = undefined;
  }
}
