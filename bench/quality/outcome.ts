/** Answers to a list of problems, a column per property. Everything is compared problem by problem. */
export interface Outcome {
  /** 1 = right, 0 = wrong. */
  correct: readonly number[];
  /** Tokens of the answers, and those among them that the large model wrote. */
  tokens: readonly number[];
  largeTokens: readonly number[];
}

/** How often each problem counts; absent: once. */
export type Weights = ArrayLike<number>;

/** A point of the frontier: both in [0, 1]. */
export interface CurvePoint {
  /** Large model's share of the tokens. */
  share: number;
  accuracy: number;
}

/** Σ weight × value. */
export function weightedSum(values: readonly number[], weights?: Weights): number {
  return values.reduce((sum, value, i) => sum + value * (weights?.[i] ?? 1), 0);
}

/** Number of problems, as weighed. */
export const numProblems = ({ correct }: Outcome, weights?: Weights): number =>
  weights === undefined ? correct.length : correct.reduce((sum, _, i) => sum + (weights[i] ?? 0), 0);

export const accuracyOf = (outcome: Outcome, weights?: Weights): number =>
  weightedSum(outcome.correct, weights) / numProblems(outcome, weights);

export const pointOf = (outcome: Outcome, weights?: Weights): CurvePoint => ({
  share: weightedSum(outcome.largeTokens, weights) / Math.max(1, weightedSum(outcome.tokens, weights)),
  accuracy: accuracyOf(outcome, weights),
});

/** Standard error of a share of `n` independent problems. */
export const standardErrorOf = (share: number, n: number): number =>
  Math.sqrt(Math.max(0, share * (1 - share)) / Math.max(1, n));

/** Accuracy at a share on the line through the points; beyond the first and last it stays as it is there. */
export function accuracyAt(points: readonly CurvePoint[], share: number): number {
  const sorted = [...points].sort((a, b) => a.share - b.share);
  const above = sorted.find((point) => point.share >= share);
  const below = sorted.findLast((point) => point.share <= share);
  if (above === undefined || below === undefined) return (above ?? below)?.accuracy ?? NaN;
  if (above.share === below.share) return below.accuracy;
  const part = (share - below.share) / (above.share - below.share);
  return below.accuracy + part * (above.accuracy - below.accuracy);
}
