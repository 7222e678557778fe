import type { Clock, Timer } from '../../core/clock.ts';
import type { ModelId } from '../../core/request.ts';
import type { Beacon, LoadEstimates } from '../../transport/messages.ts';
import { EstimatesDue } from './estimates-due.ts';

/** What a subserver says of itself. */
export type Announcement = Pick<
  Beacon,
  'rowsRunning' | 'stepLeftMs' | 'waiting' | 'aliveAtHome' | 'isDeciding'
>;

export interface AnnouncerOptions {
  self: ModelId;
  replica: string;
  /** Least time between two beacons in the long run, in milliseconds. */
  minIntervalMs: number;
  staleMs: number;
}

/** Announcements that may go out at once: what one instant brings is not late because of what went before it. */
const BURST = 4;

/** Announcements per stale time while nothing changes: some may be lost. */
const REFRESHES_PER_STALE_TIME = 4;

const isSame = (a: Announcement, b: Announcement | undefined): boolean =>
  a.rowsRunning === b?.rowsRunning &&
  a.waiting === b.waiting &&
  a.aliveAtHome === b.aliveAtHome &&
  a.isDeciding === b.isDeciding;

/** The own announcements, rate-bounded by a bucket of {@link BURST}: the newest one always goes out. */
export class Announcer {
  private readonly options: AnnouncerOptions;
  private readonly clock: Clock;
  private readonly publish: (beacon: Beacon) => void;
  private readonly due: EstimatesDue;
  private tokens = BURST;
  private filledMs: number;
  private lastSentMs = -Infinity;
  private lastSent: Announcement | undefined;
  private next: Announcement | undefined;
  private timer: Timer | undefined;

  /** @param estimates what was measured so far; it rides on some of the beacons */
  constructor(
    options: AnnouncerOptions,
    clock: Clock,
    estimates: () => LoadEstimates | undefined,
    publish: (beacon: Beacon) => void,
  ) {
    this.options = options;
    this.clock = clock;
    this.publish = publish;
    this.due = new EstimatesDue(estimates, options.staleMs / REFRESHES_PER_STALE_TIME);
    this.filledMs = clock.nowMs();
  }

  announce(news: Announcement): void {
    if (news.rowsRunning === 0 && isSame(news, this.lastSent) && !this.next) return;
    this.next = news;
    const waitMs = this.untilTokenMs();
    if (waitMs <= 0) this.send();
    else this.timer ??= this.clock.setTimer(waitMs, () => this.send());
  }

  /** Says the last announcement again before peers take it for stale: a long step or a long hold is no end. */
  refresh(): void {
    const { lastSent } = this;
    const ageMs = this.clock.nowMs() - this.lastSentMs;
    if (!lastSent || this.next || ageMs < this.options.staleMs / REFRESHES_PER_STALE_TIME) return;
    this.next = { ...lastSent, stepLeftMs: Math.max(0, lastSent.stepLeftMs - ageMs) };
    this.send();
  }

  stop(): void {
    this.timer?.cancel();
    this.next = undefined;
  }

  private untilTokenMs(): number {
    const nowMs = this.clock.nowMs();
    const { minIntervalMs } = this.options;
    if (minIntervalMs <= 0) return 0;
    this.tokens = Math.min(BURST, this.tokens + (nowMs - this.filledMs) / minIntervalMs);
    this.filledMs = nowMs;
    // A rest of rounding must not set a timer for less than any clock resolves.
    return this.tokens >= 1 - 1e-6 ? 0 : (1 - this.tokens) * minIntervalMs;
  }

  private send(): void {
    this.timer?.cancel();
    this.timer = undefined;
    const news = this.next;
    if (!news) return;
    this.next = undefined;
    this.untilTokenMs();
    this.tokens = Math.max(0, this.tokens - 1);
    this.lastSentMs = this.clock.nowMs();
    this.lastSent = news;
    const { self, replica } = this.options;
    const estimates = this.due.take(this.lastSentMs);
    this.publish({
      kind: 'beacon',
      model: self,
      replica,
      ...news,
      ...(estimates === undefined ? {} : { estimates }),
    });
  }
}
