import type { StepRecord } from './step-record.ts';

/** What a client saw inside measured windows. Times in milliseconds of the lane's own clock. */
export interface WindowStats {
  seconds: number;
  tokens: number;
  /** Tokens by the guest. */
  guestTokens: number;
  /** Requests that started and had their first token while the lane ran. */
  ttftMs: number[];
  /** One entry per token but a request's first; tokens that come together share their gap evenly. */
  itlMs: number[];
  ended: number;
}

/** Everything measured of one mode, over all its windows. */
export interface ModeRun {
  stats: WindowStats;
  /** Tokens per second of each window. */
  rates: number[];
  /** Steps inside windows, home first. */
  steps: readonly [StepRecord[], StepRecord[]];
  /** What the driver's counters grew by inside windows. */
  counters: Record<string, number>;
}

export const emptyRun = (): ModeRun => ({
  stats: { seconds: 0, tokens: 0, guestTokens: 0, ttftMs: [], itlMs: [], ended: 0 },
  rates: [],
  steps: [[], []],
  counters: {},
});
