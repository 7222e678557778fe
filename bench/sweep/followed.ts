/** Policies, home first, and the share of the time in which they were followed. */
export interface Followed {
  policies: string;
  share: number;
}

const LOOK_MS = 20;

/** Looks now and then at what a system follows that schedules itself. */
export class FollowedTally {
  private readonly follows: () => readonly string[];
  private readonly counts = new Map<string, number>();

  /** @param follows names what each model follows at this moment, home first */
  constructor(follows: () => readonly string[]) {
    this.follows = follows;
  }

  /** Looks until `work` is done. */
  async during(work: Promise<void>): Promise<void> {
    const timer = setInterval(() => this.look(), LOOK_MS);
    try {
      await work;
    } finally {
      clearInterval(timer);
    }
  }

  /** Most first. */
  shares(): Followed[] {
    const total = [...this.counts.values()].reduce((sum, count) => sum + count, 0);
    return [...this.counts]
      .map(([policies, count]) => ({ policies, share: count / total }))
      .sort((a, b) => b.share - a.share);
  }

  private look(): void {
    const policies = [...new Set(this.follows())].join('; ');
    this.counts.set(policies, (this.counts.get(policies) ?? 0) + 1);
  }
}
