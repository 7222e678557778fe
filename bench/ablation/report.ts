import { cpus } from 'node:os';
import type { ModeName } from '../lab/modes.ts';
import type { IdentityResult } from './identity.ts';
import type { AblationRow } from './row.ts';

/** A row with the setting it belongs to. */
export interface ReportRow extends AblationRow {
  pair: string;
  hasRandomWeights: boolean;
  concurrency: number;
  /** Length of an answer; null where answers end by themselves. */
  outputTokens: number | null;
}

export interface AblationReport {
  machine: { cpu: string; cores: number; node: string; broker: string };
  /** How it was measured, in sentences. */
  method: string[];
  pairs: { pair: string; label: string; hasRandomWeights: boolean; engines: string[] }[];
  rows: ReportRow[];
  identity: ({ pair: string; mode: ModeName } & IdentityResult)[];
  curves: {
    /** What restarting keeps of the runtime's throughput under the same eager policy. */
    restart: { pair: string; concurrency: number; outputTokens: number | null; restartToEager: number }[];
    /** Aggregate against per-user speed as concurrency grows. */
    speed: {
      pair: string;
      mode: ModeName;
      outputTokens: number | null;
      points: { concurrency: number; tokensPerSecond: number; perUserTokensPerSecond: number }[];
    }[];
  };
  seconds: number;
}

export const machineFacts = (broker: string): AblationReport['machine'] => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  node: process.versions.node,
  broker,
});

const same = (a: ReportRow, b: ReportRow): boolean => a.pair === b.pair && a.outputTokens === b.outputTokens;

export function curvesOf(rows: readonly ReportRow[]): AblationReport['curves'] {
  const restart = rows
    .filter(({ mode }) => mode === 'restart')
    .flatMap((row) => {
      const eager = rows.find(
        (other) => other.mode === 'eager' && same(row, other) && row.concurrency === other.concurrency,
      );
      if (!eager || eager.tokensPerSecond === 0) return [];
      const { pair, concurrency, outputTokens } = row;
      return [
        { pair, concurrency, outputTokens, restartToEager: row.tokensPerSecond / eager.tokensPerSecond },
      ];
    });
  const isFirst = (row: ReportRow): boolean =>
    rows.find((other) => other.mode === row.mode && same(row, other)) === row;
  const speed = rows.filter(isFirst).map((first) => ({
    pair: first.pair,
    mode: first.mode,
    outputTokens: first.outputTokens,
    points: rows
      .filter((row) => row.mode === first.mode && same(row, first))
      .map(({ concurrency, tokensPerSecond, perUserTokensPerSecond }) => ({
        concurrency,
        tokensPerSecond,
        perUserTokensPerSecond,
      })),
  }));
  return { restart, speed };
}
