import type { ChainSpec } from '../../scheduling/throughput-model.ts';
import { median } from '../handoff/statistics.ts';
import type { ModeRun } from './mode-run.ts';
import type { StepRecord } from './step-record.ts';

/** A step with more tokens than these feeds a prompt. A guest's row brings all that it missed, a handful of tokens. */
const MAX_TOKENS_PER_ROW = 16;
const SPARE_TOKENS = 16;

/** A step counts as alone or overlapped if the other model ran during less or more than this share of it. */
const ALONE_BELOW = 0.1;
const OVERLAPPED_ABOVE = 0.9;

const MIN_SAMPLES = 5;

/** Time of a step as its owner sees it: until the result has been handled. */
const stepMs = ({ startMs, endMs, callbackMs }: StepRecord): number => endMs - startMs + callbackMs;

/** Share of each step of `steps` during which a step of `others` ran. Both in order of time. */
export function overlapShares(steps: readonly StepRecord[], others: readonly StepRecord[]): number[] {
  let from = 0;
  return steps.map(({ startMs, endMs }) => {
    while (from < others.length && (others[from]?.endMs ?? 0) <= startMs) from += 1;
    let overlapMs = 0;
    for (let i = from; i < others.length; i += 1) {
      const other = others[i];
      if (!other || other.startMs >= endMs) break;
      overlapMs += Math.min(endMs, other.endMs) - Math.max(startMs, other.startMs);
    }
    return overlapMs / Math.max(endMs - startMs, 1e-9);
  });
}

const isDecode = ({ rows, tokens }: StepRecord): boolean =>
  tokens <= rows * MAX_TOKENS_PER_ROW + SPARE_TOKENS;

/** Steps of both models that fed no prompt. */
export const decodeSteps = (steps: ModeRun['steps']): [StepRecord[], StepRecord[]] => [
  steps[0].filter(isDecode),
  steps[1].filter(isDecode),
];

function byRows(steps: readonly StepRecord[]): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (const step of steps) {
    const group = groups.get(step.rows);
    if (group) group.push(stepMs(step));
    else groups.set(step.rows, [stepMs(step)]);
  }
  return groups;
}

/** Median step time for 1 … `maxRows` rows; sizes that were never seen are interpolated. */
export function stepTable(steps: readonly StepRecord[], maxRows: number): number[] {
  const groups = [...byRows(steps)];
  const frequent = groups.filter(([, times]) => times.length >= MIN_SAMPLES);
  const known = (frequent.length > 0 ? frequent : groups)
    .map(([rows, times]) => [rows, median(times)] as const)
    .sort(([a], [b]) => a - b);
  return Array.from({ length: maxRows }, (_, i) => interpolate(known, i + 1));
}

function interpolate(known: readonly (readonly [number, number])[], rows: number): number {
  const above = known.find(([at]) => at >= rows);
  const below = known.findLast(([at]) => at <= rows);
  if (!above || !below) return (above ?? below)?.[1] ?? 1;
  const [x0, y0] = below;
  const [x1, y1] = above;
  return x1 === x0 ? y0 : y0 + ((y1 - y0) * (rows - x0)) / (x1 - x0);
}

/** Speed of a model while the other runs too: lone step time over overlapped step time, rows alike; at most 1. */
export function overlapFactor(pairs: readonly (readonly [StepRecord[], number[]])[]): number {
  const ratios = pairs.flatMap(([steps, shares]) => {
    const lone = byRows(steps.filter((_, i) => (shares[i] ?? 0) < ALONE_BELOW));
    const overlapped = byRows(steps.filter((_, i) => (shares[i] ?? 0) > OVERLAPPED_ABOVE));
    return [...lone].flatMap(([rows, times]) => {
      const others = overlapped.get(rows) ?? [];
      const isEnough = times.length >= MIN_SAMPLES && others.length >= MIN_SAMPLES;
      return isEnough ? [median(times) / median(others)] : [];
    });
  });
  return ratios.length === 0 ? 1 : Math.min(1, Math.max(0.3, median(ratios)));
}

/**
 * The throughput model's description of a pair, from the steps of a run: step times by rows without contention, the
 * overlap factor, and how often each model sends a request to the other. Both models must have run.
 */
export function calibrate({ steps, stats, counters }: ModeRun, concurrency: number): ChainSpec {
  const [home, guest] = decodeSteps(steps);
  const shares = [overlapShares(home, guest), overlapShares(guest, home)] as const;
  const lone = (all: StepRecord[], of: readonly number[]): StepRecord[] => {
    const alone = all.filter((_, i) => (of[i] ?? 0) < ALONE_BELOW);
    return alone.length >= MIN_SAMPLES ? alone : all;
  };
  const handoffs = Math.max(1, counters['handoffs_sent'] ?? 1);
  const homeRows = home.reduce((sum, { rows }) => sum + rows, 0);
  const leave = Math.min(1, handoffs / Math.max(1, homeRows));
  const back = Math.min(1, handoffs / Math.max(1, stats.guestTokens));
  return {
    routing: [
      [1 - leave, leave],
      [back, 1 - back],
    ],
    commits: [
      [1, 0],
      [1, 1],
    ],
    stepMs: [stepTable(lone(home, shares[0]), concurrency), stepTable(lone(guest, shares[1]), concurrency)],
    concurrency,
    overlapFactor: overlapFactor([
      [home, shares[0]],
      [guest, shares[1]],
    ]),
  };
}
