import { BOUNDS, SATURATION_IN_FLIGHT, type BrokerName, type Load, type RunResult } from './plan.ts';
import { median } from './statistics.ts';

/** Medians over the rounds of one load on one broker. */
export interface Row extends RunResult {
  broker: BrokerName;
  inFlight: number;
  tokens: number;
  rounds: number;
}

export interface BoundCheck {
  broker: BrokerName;
  tokens: number;
  what: 'oneWayMedianUs' | 'handoffsPerSecond';
  measured: number;
  bound: number;
  holds: boolean;
}

export interface HandoffReport {
  /** `broker`: name and version as the server reports it, by kind. */
  brokers: Partial<Record<BrokerName, string>>;
  rows: Row[];
  bounds: BoundCheck[];
}

export function rowOf(broker: BrokerName, { inFlight, tokens }: Load, results: readonly RunResult[]): Row {
  const over = (pick: (result: RunResult) => number): number => median(results.map(pick));
  return {
    broker,
    inFlight,
    tokens,
    rounds: results.length,
    medianUs: over((result) => result.medianUs),
    p99Us: over((result) => result.p99Us),
    handoffsPerSecond: over((result) => result.handoffsPerSecond),
  };
}

/** One-way latency with one handoff in flight, and throughput at saturation, against the promised bounds. */
export function checkBounds(rows: readonly Row[]): BoundCheck[] {
  return rows.flatMap(({ broker, tokens, inFlight, medianUs, handoffsPerSecond }): BoundCheck[] => {
    const { oneWayMedianUs: slowest, handoffsPerSecond: fewest } = BOUNDS;
    if (inFlight === 1) {
      return [
        {
          broker,
          tokens,
          what: 'oneWayMedianUs',
          measured: medianUs,
          bound: slowest,
          holds: medianUs <= slowest,
        },
      ];
    }
    if (inFlight !== SATURATION_IN_FLIGHT) return [];
    const holds = handoffsPerSecond >= fewest;
    return [{ broker, tokens, what: 'handoffsPerSecond', measured: handoffsPerSecond, bound: fewest, holds }];
  });
}

const cell = (text: string | number): string => String(text).padStart(12);

/** The report as a table for people. */
export function printable({ brokers, rows, bounds }: HandoffReport): string {
  const lines = Object.entries(brokers).map(([name, version]) => `${name}: ${version}`);
  lines.push(['broker', 'in flight', 'new ids', 'p50 us', 'p99 us', 'handoffs/s'].map(cell).join(''));
  for (const row of rows) {
    const numbers = [row.medianUs, row.p99Us, row.handoffsPerSecond].map((value) => value.toFixed(0));
    lines.push([row.broker, row.inFlight, row.tokens, ...numbers].map(cell).join(''));
  }
  for (const { broker, tokens, what, measured, bound, holds } of bounds) {
    const relation = what === 'oneWayMedianUs' ? '<=' : '>=';
    lines.push(
      `${holds ? 'ok    ' : 'MISSED'} ${broker}, ${tokens} ids: ${what} ${measured.toFixed(0)} ${relation} ${bound}`,
    );
  }
  return lines.join('\n');
}
