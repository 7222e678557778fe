import { quantile } from '../handoff/statistics.ts';
import type { ModeRun } from '../lab/mode-run.ts';
import { RUNTIME_MODES, type ModeName } from '../lab/modes.ts';
import { breakdownOf, type Breakdown } from './breakdown.ts';

export interface Percentiles {
  p50: number;
  p90: number;
  p99: number;
  /** Samples behind them. */
  n: number;
}

/** One mode in one setting. Fields are stable: they are what `--json` prints. */
export interface AblationRow {
  mode: ModeName;
  tokensPerSecond: number;
  /** Slowest and fastest of the windows, in tokens per second. */
  windows: { min: number; max: number; n: number };
  /** Ratio to the row above; null in the first row and for models that answer alone. */
  ratioToAbove: number | null;
  ratioToSequential: number | null;
  /** Speed that one running request sees: 1 / mean gap between its tokens. */
  perUserTokensPerSecond: number;
  /** Share of the tokens that the guest wrote. */
  guestShare: number;
  ttftMs: Percentiles | null;
  itlMs: Percentiles | null;
  /** Rows of a step on average, home and guest. */
  meanRows: [number, number];
  /** Thresholds of `threshold`. */
  thresholds?: readonly number[];
  /** What the throughput model predicts for them. */
  predictedTokensPerSecond?: number;
  /** Where a home step's time goes; for the modes on the runtime. */
  homeStep: Breakdown | null;
  failures: readonly string[];
}

export function percentilesOf(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((q) => quantile(sorted, q));
  return { p50: p50 ?? NaN, p90: p90 ?? NaN, p99: p99 ?? NaN, n: sorted.length };
}

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

/** The row of one mode, ratios left out: they need the others. */
export function rowOf(mode: ModeName, run: ModeRun, failures: readonly string[]): AblationRow {
  const { stats, rates, steps } = run;
  const rows = (index: 0 | 1): number => mean(steps[index].map(({ rows }) => rows));
  return {
    mode,
    tokensPerSecond: stats.seconds > 0 ? stats.tokens / stats.seconds : 0,
    windows: { min: Math.min(...rates), max: Math.max(...rates), n: rates.length },
    ratioToAbove: null,
    ratioToSequential: null,
    perUserTokensPerSecond: stats.itlMs.length > 0 ? 1000 / mean(stats.itlMs) : 0,
    guestShare: stats.tokens > 0 ? stats.guestTokens / stats.tokens : 0,
    ttftMs: percentilesOf(stats.ttftMs),
    itlMs: percentilesOf(stats.itlMs),
    meanRows: [rows(0), rows(1)],
    homeStep: RUNTIME_MODES.includes(mode) ? (breakdownOf(run) ?? null) : null,
    failures,
  };
}

const answersAlone = (mode: ModeName): boolean => mode === 'small-only' || mode === 'large-only';

/** Fills in the ratios. One model alone does other work, so nothing is compared with it as "the row above". */
export function withRatios(rows: readonly AblationRow[]): AblationRow[] {
  const sequential = rows.find(({ mode }) => mode === 'sequential')?.tokensPerSecond;
  return rows.map((row, i) => {
    const above = rows[i - 1];
    const ratio = (base: number | undefined): number | null =>
      base === undefined || base <= 0 ? null : row.tokensPerSecond / base;
    const hasAbove = above !== undefined && !answersAlone(row.mode) && !answersAlone(above.mode);
    return {
      ...row,
      ratioToAbove: hasAbove ? ratio(above.tokensPerSecond) : null,
      ratioToSequential: ratio(sequential),
    };
  });
}
