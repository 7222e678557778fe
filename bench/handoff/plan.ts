/** One measurement: `handoffs` round trips, `inFlight` of them open at a time, each carrying `tokens` new ids. */
export interface Load {
  inFlight: number;
  tokens: number;
  handoffs: number;
}

export const BROKERS = ['nats-server', 'embedded'] as const;

export type BrokerName = (typeof BROKERS)[number];

/** What a peer is asked to do; sent from the orchestrator over IPC. */
export type PeerCommand =
  | { do: 'connect'; broker: BrokerName; url: string }
  | { do: 'run'; broker: BrokerName; load: Load }
  | { do: 'quit' };

/** Result of one measurement. */
export interface RunResult {
  /** One-way latency = half a round trip, in microseconds. */
  medianUs: number;
  p99Us: number;
  /** Handoffs per second, both directions counted. */
  handoffsPerSecond: number;
}

/** What a peer answers: done (with a result after `run`), or failed. */
export type PeerReport = { ok: true; result?: RunResult } | { ok: false; message: string };

/** Open handoffs at which throughput no longer grows on small machines. */
export const SATURATION_IN_FLIGHT = 256;

export const IN_FLIGHT_LEVELS = [1, 8, 64, SATURATION_IN_FLIGHT] as const;

export const TOKENS_PER_HANDOFF = [1, 32] as const;

/** The loads of one round; `scale` 1 takes about 4 seconds per broker. */
export function loadsOf(scale: number): Load[] {
  const handoffsAt = { 1: 1500, 8: 5000, 64: 15_000, [SATURATION_IN_FLIGHT]: 25_000 };
  return TOKENS_PER_HANDOFF.flatMap((tokens) =>
    IN_FLIGHT_LEVELS.map((inFlight) => ({
      inFlight,
      tokens,
      handoffs: Math.max(200, Math.round((handoffsAt[inFlight] ?? 1000) * scale)),
    })),
  );
}

/** Longest time of one measurement, in milliseconds: a lost message would otherwise wait for ever. */
export const RUN_LIMIT_MS = 20_000;

/** Bounds that the product promises for one machine at rest. */
export const BOUNDS = { oneWayMedianUs: 300, handoffsPerSecond: 20_000 };
