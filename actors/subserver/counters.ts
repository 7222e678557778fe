/** Upper bounds of the admission delay's buckets, in microseconds: from ready to the start of the row's step. */
export const WAIT_BOUNDS_US = [
  100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
] as const;

type WaitBucket = `wait_le_us_${(typeof WAIT_BOUNDS_US)[number]}`;

const NAMES = [
  'steps',
  'step_rows',
  'step_tokens',
  'engine_run_us',
  'engine_step_us',
  'route_us',
  'commit_us',
  'generation_tokens',
  'prefill_tokens',
  'requests_admitted',
  'requests_rejected',
  'requests_finished',
  'requests_failed',
  'handoffs_sent',
  'handoffs_received',
  'handoffs_repeated',
  'handoffs_refused',
  'handoffs_local',
  'num_preemptions',
  'kv_evictions',
  'stale_messages',
  'dropped_messages',
  'needs_prefix_sent',
  'peers_lost',
  'router_failures',
  'holds',
  'wait_us',
  'answer_tokens',
] as const;

const WAIT_BUCKETS = WAIT_BOUNDS_US.map((bound): WaitBucket => `wait_le_us_${bound}`);

export type CounterName = (typeof NAMES)[number] | WaitBucket;

/** Monotonic counters of one subserver; they travel in its heartbeats. */
export class Counters {
  private readonly counts = new Map<CounterName, number>(
    [...NAMES, ...WAIT_BUCKETS].map((name) => [name, 0]),
  );

  add(name: CounterName, amount = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + amount);
  }

  /** Books the admission delay of one row. What is longer than the last bound is in no bucket: `step_rows` counts all. */
  addWait(waitMs: number): void {
    const waitUs = Math.round(waitMs * 1000);
    this.add('wait_us', waitUs);
    const bucket = WAIT_BOUNDS_US.findIndex((bound) => waitUs <= bound);
    const name = WAIT_BUCKETS[bucket];
    if (name !== undefined) this.add(name);
  }

  get(name: CounterName): number {
    return this.counts.get(name) ?? 0;
  }

  snapshot(): Record<string, number> {
    return Object.fromEntries(this.counts);
  }
}
