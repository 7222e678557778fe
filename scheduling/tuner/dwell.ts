/** A plan stays for so long at least, the next one for twice as long … */
const FIRST_MS = 1000;
/** … up to this. */
const LONGEST_MS = 30_000;

/**
 * How long a plan stays where nothing but step times and contention wander. On a machine that others use they do for ever, by more
 * than plans differ; each change throws away what was being measured, and a plan that stays is better than the best of each second.
 */
export class Dwell {
  private lengthMs = FIRST_MS;
  private untilMs = -Infinity;

  /** Another plan is followed from now on. @param isUrgent another load than before is there: its first plans rest on few steps */
  begin(nowMs: number, isUrgent: boolean): void {
    if (isUrgent) this.lengthMs = FIRST_MS;
    this.untilMs = nowMs + this.lengthMs;
    this.lengthMs = Math.min(LONGEST_MS, 2 * this.lengthMs);
  }

  isOver(nowMs: number, isUrgent: boolean): boolean {
    return isUrgent || nowMs >= this.untilMs;
  }
}
