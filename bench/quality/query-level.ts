import { numProblems, weightedSum, type Outcome, type Weights } from './outcome.ts';

/**
 * Query-level routing: each problem goes to the small or the large model as a whole. Its results follow from those of
 * the two models alone. The share is that of the large model's tokens in all tokens, both expected where a rule draws.
 */
export interface QueryLevel {
  name: string;
  /** Accuracy where the large model writes `share` (0 to 1) of the tokens. */
  accuracyAt: (share: number, weights?: Weights) => number;
}

const sumOf = (outcome: Outcome, key: 'correct' | 'tokens', weights?: Weights): number =>
  weightedSum(outcome[key], weights);

export const ORACLE = 'queries by an oracle';

/** A problem goes to the large model with probability q, whatever it is. The expectation, exactly. */
export function randomQueries(small: Outcome, large: Outcome): QueryLevel {
  return {
    name: 'queries at random',
    accuracyAt: (share, weights) => {
      const smallTokens = sumOf(small, 'tokens', weights);
      const largeTokens = sumOf(large, 'tokens', weights);
      // share = q·L / (q·L + (1 − q)·S), solved for q
      const q = (share * smallTokens) / (largeTokens * (1 - share) + share * smallTokens);
      const right = (1 - q) * sumOf(small, 'correct', weights) + q * sumOf(large, 'correct', weights);
      return right / numProblems(small, weights);
    },
  };
}

/**
 * Fills the share in this order of problems, the last one in part (it then goes to the large model with that
 * probability).
 */
function fill(
  order: Iterable<number>,
  small: Outcome,
  large: Outcome,
  share: number,
  weights?: Weights,
): number {
  let budget = share * sumOf(small, 'tokens', weights);
  let right = sumOf(small, 'correct', weights);
  for (const i of order) {
    const weight = weights?.[i] ?? 1;
    // Moving a problem adds its large tokens and takes its small ones away: both count against the share.
    const cost = weight * costOf(i, small, large, share);
    const part = cost <= budget ? 1 : budget / cost;
    right += part * weight * ((large.correct[i] ?? 0) - (small.correct[i] ?? 0));
    budget -= cost;
    if (part < 1) break;
  }
  return right / numProblems(small, weights);
}

const costOf = (i: number, small: Outcome, large: Outcome, share: number): number =>
  (large.tokens[i] ?? 0) * (1 - share) + (small.tokens[i] ?? 0) * share;

/**
 * The problems that the small model is least sure of go to the large one.
 * @param uncertainty per problem; known before the answer begins
 */
export function uncertainQueries(small: Outcome, large: Outcome, uncertainty: readonly number[]): QueryLevel {
  const order = uncertainty.map((_, i) => i).sort((a, b) => (uncertainty[b] ?? 0) - (uncertainty[a] ?? 0));
  return {
    name: 'queries by prompt uncertainty',
    accuracyAt: (share, weights) => fill(order, small, large, share, weights),
  };
}

/**
 * What no query-level routing can beat: the problems that only the large model answers go to it, the cheapest first, as
 * if somebody knew. The rest of the share is left unused.
 */
export function oracleQueries(small: Outcome, large: Outcome): QueryLevel {
  const gains = small.correct.flatMap((right, i) => (right === 0 && large.correct[i] === 1 ? [i] : []));
  return {
    name: ORACLE,
    accuracyAt: (share, weights) => {
      const cost = gains.map((i) => [i, costOf(i, small, large, share)] as const);
      const order = cost.sort(([, a], [, b]) => a - b).map(([i]) => i);
      return fill(order, small, large, share, weights);
    },
  };
}
