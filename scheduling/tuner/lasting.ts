/** Another load must have been there for so long … */
const LEAST_MS = 150;
/** … twice as long after each change that came so soon after the one before, up to this; half as long after any other. */
const SOON_MS = 3000;
const MOST_MS = 2400;

/**
 * How long requests must have gone other ways before that is another load. With few requests a passage of one answer moves all
 * shares, and how long passages are nobody knows beforehand: plans that do not last are what tells that they were too short to
 * plan for.
 */
export class Lasting {
  private neededMs = LEAST_MS;
  private changedMs = -Infinity;
  private sinceMs: number | undefined;

  /** Whether the load was another one at the last look. */
  get isRunning(): boolean {
    return this.sinceMs !== undefined;
  }

  /** The load is the plan's. */
  ended(): void {
    this.sinceMs = undefined;
  }

  /**
   * The load is another one than the plan's.
   * @param isFar by so much that it need not last longer than at first
   * @returns whether it has been for long enough
   */
  isLong(nowMs: number, isFar: boolean): boolean {
    this.sinceMs ??= nowMs;
    return nowMs - this.sinceMs >= (isFar ? LEAST_MS : this.neededMs);
  }

  /** Another plan is followed from now on. @param isUrgent because of another load */
  changed(nowMs: number, isUrgent: boolean): void {
    this.sinceMs = undefined;
    if (!isUrgent) return;
    const isSoon = nowMs - this.changedMs < SOON_MS;
    this.neededMs = isSoon ? Math.min(MOST_MS, 2 * this.neededMs) : Math.max(LEAST_MS, this.neededMs / 2);
    this.changedMs = nowMs;
  }
}
