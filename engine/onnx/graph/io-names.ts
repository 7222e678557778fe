/** Names of a decoder graph's inputs and outputs. T packed tokens, R rows, S positions that need the head. */
export const INPUT = {
  /** int64 [1, T]: the new tokens of all rows, packed. */
  ids: 'ids',
  /** int32 [R]: index of the last key each row attends to, past + n − 1. */
  lastKey: 'last_key',
  /** int64 [S]: packed indices of the positions that need the head. */
  positions: 'positions',
  /** int64 [R]: tokens per slot, at least 1 (only with more than one row). */
  splits: 'splits',
  /** int64 [ΣR splits]: packed token of each slot token (only with more than one row). */
  expand: 'expand',
  /** int64 [T]: slot token of each packed token (only with more than one row). */
  collapse: 'collapse',
} as const;

export const OUTPUT = {
  done: 'done',
  /** [1, S, V] raw logits. */
  logits: 'logits',
  /** [1, T, 1]: sum of each token's vector after the final norm; not finite where the model broke down. */
  tokenSums: 'token_sums',
  /** [1, S, hidden], after the final norm. */
  hidden: 'hidden',
  /** [1, S, 1], over the whole width. */
  logSumExp: 'log_sum_exp',
  /** [1, S, 1], nats, over the whole width. */
  entropy: 'entropy',
  /** [1, S, 1] probability of the ids that are never sampled; only where there are some. */
  paddedMass: 'padded_mass',
  /** [1, S, k] among the ids that may be sampled. */
  topValues: 'top_values',
  /** int64 [1, S, k]. */
  topIds: 'top_ids',
} as const;

export const pastKey = (row: number, layer: number): string => `past_key.${row}.${layer}`;
export const pastValue = (row: number, layer: number): string => `past_value.${row}.${layer}`;
export const presentKey = (row: number, layer: number): string => `present_key.${row}.${layer}`;
export const presentValue = (row: number, layer: number): string => `present_value.${row}.${layer}`;
