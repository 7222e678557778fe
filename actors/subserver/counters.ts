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
] as const;

export type CounterName = (typeof NAMES)[number];

/** Monotonic counters of one subserver; they travel in its heartbeats. */
export class Counters {
  private readonly counts = new Map<CounterName, number>(NAMES.map((name) => [name, 0]));

  add(name: CounterName, amount = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + amount);
  }

  get(name: CounterName): number {
    return this.counts.get(name) ?? 0;
  }

  snapshot(): Record<string, number> {
    return Object.fromEntries(this.counts);
  }
}
