import type { Candidate, SystemSpec } from '../planner/plan.ts';
import { proposal, withCeiling, type Proposal } from '../planner/proposal.ts';

/** A candidate that nobody predicts, with its place on the ladder: the same for each number of requests. */
export interface Rung {
  place: number;
  candidate: Candidate;
  /** To be measured only where predictions are wrong: otherwise they tell enough of what lies so near to starting at once. */
  isForDoubt: boolean;
}

/** Parts of the requests alive that the home, and all guests together, wait for. */
const SHARES: readonly (readonly [home: number, guests: number])[] = [
  [0, 1 / 8],
  [0, 1 / 4],
  [0, 1 / 2],
  [1 / 4, 1 / 2],
  [1 / 2, 1 / 2],
  [3 / 4, 0],
];

/** Place of the rung that is for doubt. */
const FOR_DOUBT = 0;

/**
 * A few thresholds all over what is possible, and turns, to be measured where predictions turn out to be wrong: the model is what
 * they are wrong by, so it cannot say which of them is good.
 *
 * @param tokensPerSecond what is written down as their prediction; for want of a better one that of the plan's best
 * @param maxWaitMs the ceiling that they are given
 */
export function ladderOf(
  { stepMs, home, replicas = [] }: SystemSpec,
  alive: number,
  tokensPerSecond: number,
  maxWaitMs?: number,
): Rung[] {
  const numGuests = stepMs.length - 1;
  if (alive < 2 || numGuests < 1) return [];
  const thresholds = (atHome: number, atGuests: number): number[] =>
    stepMs.map((_, model) => {
      const rows = model === home - 1 ? atHome : atGuests / numGuests;
      return Math.max(1, Math.round(rows / (replicas[model] ?? 1)));
    });
  const waiting = SHARES.map(([atHome, atGuests]) => thresholds(alive * atHome, alive * atGuests));
  const isFirst = (rows: readonly number[], i: number): boolean =>
    waiting.findIndex((other) => other.join() === rows.join()) === i;
  const held = (rows: readonly number[]): number =>
    rows.reduce((sum, count, model) => sum + (count - 1) * (replicas[model] ?? 1), 0);
  const isUseful = (rows: readonly number[], i: number): boolean =>
    isFirst(rows, i) && held(rows) < alive && rows.some((count) => count > 1);
  const rung = ({ name, policies }: Proposal, place: number): Rung => {
    const isForDoubt = place === FOR_DOUBT;
    return {
      place,
      isForDoubt,
      candidate: { name, policies: withCeiling(policies, maxWaitMs), tokensPerSecond },
    };
  };
  return [
    ...waiting.flatMap((rows, i) => (isUseful(rows, i) ? [rung(proposal('threshold', rows), i)] : [])),
    rung(proposal('take-turns', thresholds(alive / 2, 0)), waiting.length),
  ];
}
