import type { Clock } from '../../core/clock.ts';
import type { ModelId } from '../../core/request.ts';
import type { Driver, RequestSink } from '../baselines/driver.ts';
import type { WindowStats } from './mode-run.ts';
import type { Workload } from './workload.ts';

interface Live {
  submittedMs: number;
  lastMs: number | undefined;
  hasMetGuest: boolean;
  /** Its TTFT counts: it is no request that started in the middle of its answer. */
  isFresh: boolean;
}

const MAX_FAILURES = 100;

/** Keeps `concurrency` requests alive at a driver, and counts inside the windows it is told. */
export class ClosedLoop implements RequestSink {
  /** Requests that ended with an error, inside windows or not. */
  readonly failures: string[] = [];
  private readonly driver: Driver;
  private readonly workload: Workload;
  private readonly concurrency: number;
  private readonly clock: Clock;
  private readonly live = new Map<number, Live>();
  private nextId: number;
  private window: { stats: WindowStats; startMs: number } | undefined;
  /** Time of the last token; a window with `endsAtToken` ends there. */
  private lastTokenMs = 0;

  constructor(driver: Driver, workload: Workload, concurrency: number, clock: Clock) {
    this.driver = driver;
    this.workload = workload;
    this.concurrency = concurrency;
    this.clock = clock;
    this.nextId = concurrency;
  }

  /** The first requests; the driver must have started with this loop as its sink. */
  fill(): void {
    for (let slot = 0; slot < this.concurrency; slot += 1) {
      this.track(slot, false);
      this.driver.submit(this.workload.first(slot, this.concurrency));
    }
  }

  /** Requests alive that have had a token, and one of the guest if `needsGuest`. */
  numWarm(needsGuest: boolean): number {
    let count = 0;
    for (const { lastMs, hasMetGuest, isFresh } of this.live.values())
      if (isFresh || (lastMs !== undefined && (hasMetGuest || !needsGuest))) count += 1;
    return count;
  }

  /** Nothing counts any more, nothing is submitted: what ends now was ended on purpose. */
  close(): void {
    this.live.clear();
  }

  /** Counts into `stats` from now on. */
  begin(stats: WindowStats): void {
    this.window = { stats, startMs: this.clock.nowMs() };
  }

  /** @param atToken ends the window at the last token: for modes with a handful of tokens per window */
  end(atToken: boolean): void {
    if (this.window === undefined) return;
    const { stats, startMs } = this.window;
    const endMs = atToken ? Math.max(this.lastTokenMs, startMs) : this.clock.nowMs();
    stats.seconds += (endMs - startMs) / 1000;
    this.window = undefined;
  }

  onTokens(id: number, ids: readonly number[], models: readonly ModelId[]): void {
    const live = this.live.get(id);
    if (!live) return;
    const nowMs = this.clock.nowMs();
    this.lastTokenMs = nowMs;
    const before = live.lastMs;
    live.lastMs = nowMs;
    live.hasMetGuest ||= models.some((model) => model !== 1);
    if (this.window === undefined) return;
    const { stats } = this.window;
    stats.tokens += ids.length;
    stats.guestTokens += models.filter((model) => model !== 1).length;
    if (before === undefined && live.isFresh) stats.ttftMs.push(nowMs - live.submittedMs);
    const since = before ?? nowMs;
    const numGaps = before === undefined ? ids.length - 1 : ids.length;
    for (let i = 0; i < numGaps; i += 1) stats.itlMs.push((nowMs - since) / ids.length);
  }

  onEnd(id: number, failure?: string): void {
    if (!this.live.delete(id)) return;
    if (failure !== undefined) this.failures.push(`request ${id}: ${failure}`);
    if (this.window) this.window.stats.ended += 1;
    // A mode that fails everything must not spin.
    if (this.failures.length > MAX_FAILURES) return;
    const next = this.workload.next(this.nextId);
    this.nextId += 1;
    this.track(next.id, true);
    this.driver.submit(next);
  }

  private track(id: number, isFresh: boolean): void {
    this.live.set(id, {
      submittedMs: this.clock.nowMs(),
      lastMs: undefined,
      hasMetGuest: false,
      isFresh,
    });
  }
}
