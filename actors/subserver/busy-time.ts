/** For how long something has been on, in total. */
export class BusyTime {
  private totalMs = 0;
  private sinceMs: number | undefined;

  set(isBusy: boolean, nowMs: number): void {
    if (isBusy === (this.sinceMs !== undefined)) return;
    this.totalMs = this.total(nowMs);
    this.sinceMs = isBusy ? nowMs : undefined;
  }

  total(nowMs: number): number {
    return this.totalMs + (this.sinceMs === undefined ? 0 : nowMs - this.sinceMs);
  }
}
