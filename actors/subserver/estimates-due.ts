import type { LoadEstimates } from '../../transport/messages.ts';

/** Estimates go out this often while anything happens … */
const LEAST_INTERVAL_MS = 20;
/** … and at most this often … */
const SHORTEST_INTERVAL_MS = 5;
/** … where a share has moved by this much of itself, and by as many of all rows. */
const MOVED_SHARE = 0.1;
const MOVED_ROWS = 0.02;

/** When the next beacon should carry the estimates: often while they change, now and then for those who have missed them. */
export class EstimatesDue {
  private readonly current: () => LoadEstimates | undefined;
  private readonly refreshMs: number;
  private told: LoadEstimates | undefined;
  private toldMs = -Infinity;

  constructor(current: () => LoadEstimates | undefined, refreshMs: number) {
    this.current = current;
    this.refreshMs = refreshMs;
  }

  /** What to send now; undefined = nothing new. */
  take(nowMs: number): LoadEstimates | undefined {
    const ageMs = nowMs - this.toldMs;
    if (ageMs < SHORTEST_INTERVAL_MS) return undefined;
    const news = this.current();
    if (!news || !this.isDue(news, ageMs)) return undefined;
    this.told = news;
    this.toldMs = nowMs;
    return news;
  }

  private isDue(news: LoadEstimates, ageMs: number): boolean {
    if (ageMs >= this.refreshMs || !this.told) return true;
    const { routing } = this.told;
    const isMoved = news.routing.some((share, j) => {
      const before = routing[j] ?? 0;
      return Math.abs(share - before) > Math.max(MOVED_ROWS, MOVED_SHARE * before);
    });
    return isMoved || (ageMs >= LEAST_INTERVAL_MS && news.numOutcomes !== this.told.numOutcomes);
  }
}
