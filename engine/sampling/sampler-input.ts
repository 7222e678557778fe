/** One row as the sampler needs it: a short list of the best tokens, and the whole row on demand. */
export interface SamplerInput {
  /**
   * The largest raw logits, descending; ids of the padding already removed, nothing put in their place (an
   * entry of −∞ is taken to say that every unlisted logit is −∞ too). May be empty.
   */
  topValues: Float32Array;
  /** Their token ids. Equal logits may come in any order, and any of them may be missing at the end. */
  topIds: Int32Array;
  /** ln Σ exp(logit) of the raw logits at temperature 1, over the row's whole width. */
  logSumExp: number;
  /** The full raw row; called at most once, and only where the short list cannot decide. */
  readLogits: () => Float32Array;
  /** Ids from here on are padding of the vocabulary: never drawn. */
  vocabLimit: number;
  /**
   * Width of the row that {@link SamplerInput.logSumExp} sums over. Absent: unknown, so that some of the sum
   * may be padding; still exact, but the full row is read more often. Pass it.
   */
  logitsWidth?: number;
  /** Largest absolute error of `logSumExp`. Default: the bound of a plain float32 sum over the row. */
  logSumExpError?: number;
}
