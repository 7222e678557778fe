import { ORACLE } from './query-level.ts';
import type { ListReport } from './report.ts';

/** Fewer problems say too little. */
const WHOLE_LIST = 400;

/**
 * Whether a whole list misses the goal: one trained algorithm reaches it, where there are trained ones, and every curve
 * lies above routing of whole queries (by an oracle it need not).
 */
export function isGoalMissed({ problems, goal, againstQueries }: ListReport): boolean {
  if (problems < WHOLE_LIST) return false;
  const isBelow = againstQueries.some(({ isAbove, reference }) => !isAbove && reference !== ORACLE);
  return isBelow || (goal.numTrained > 0 && goal.reachedByTrained.length === 0);
}
