/** Between the end of a solve and the next one lies at least this, … */
const LEAST_PAUSE_MS = 1000;
/** … at least this many times what it took, and in the long run this many times. */
const SHORT_PAUSE = 2;
const LONG_PAUSE = 20;
/** Solves that may follow each other after short pauses: the first plans rest on few steps, and so do those after a change. */
const BURST = 4;
/** A plan that changed nothing is followed by a pause of so many times what it took; each further one doubles it, up to so often. */
const IDLE_PAUSE = 20;
const MAX_IDLE_DOUBLINGS = 4;
/** Each failure in a row doubles the least pause, up to so many times: what fails for good must not fill the log. */
const MAX_DOUBLINGS = 6;

/**
 * When a plan may be asked for: 1/20 of a core in the long run, more of it after a time in which none was needed, and ever less
 * while plans change nothing: where step times wander, they would be made anew for ever, on a core that the models may need.
 */
export class SolveBudget {
  private credit = BURST;
  private tookMs = 0;
  private countedMs = 0;
  private nextMs = 0;
  private numFailures = 0;
  private numIdle = 0;

  /** @param isUrgent plans that changed nothing are no reason to wait: another load than before is there */
  isAllowed(nowMs: number, isUrgent = true): boolean {
    if (nowMs < this.nextMs || this.creditAt(nowMs) < 1) return false;
    return isUrgent || nowMs - this.countedMs >= this.idlePauseMs;
  }

  /** The last plan has been looked at. @param isNews something is done otherwise because of it */
  judged(isNews: boolean): void {
    this.numIdle = isNews ? 0 : this.numIdle + 1;
  }

  /** A solve has ended. @param tookMs its duration */
  ended(nowMs: number, tookMs: number, isOk: boolean): void {
    this.credit = this.creditAt(nowMs) - 1;
    this.countedMs = nowMs;
    this.tookMs = tookMs;
    const leastMs = LEAST_PAUSE_MS * 2 ** Math.min(this.numFailures, MAX_DOUBLINGS);
    this.numFailures = isOk ? 0 : this.numFailures + 1;
    this.nextMs = nowMs + Math.max(leastMs, (isOk ? SHORT_PAUSE : LONG_PAUSE) * tookMs);
  }

  private get idlePauseMs(): number {
    if (this.numIdle === 0) return 0;
    return IDLE_PAUSE * this.tookMs * 2 ** Math.min(this.numIdle - 1, MAX_IDLE_DOUBLINGS);
  }

  /** Solves as long as the last one that time has paid for. */
  private creditAt(nowMs: number): number {
    if (this.tookMs <= 0) return BURST;
    return Math.min(BURST, this.credit + (nowMs - this.countedMs) / (LONG_PAUSE * this.tookMs));
  }
}
