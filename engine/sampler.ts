import { TokenrailError } from '../core/errors.ts';
import type { SamplingParams } from '../core/request.ts';
import { argmaxOfRow, drawFromRow } from './sampling/full-row.ts';
import type { SamplerInput } from './sampling/sampler-input.ts';
import { drawFromShortList } from './sampling/short-list-draw.ts';
import { sortedShortList } from './sampling/short-list.ts';

export type { SamplerInput };

/** Below this temperature sampling is greedy, as in vLLM (its `_SAMPLING_EPS`). */
export const GREEDY_BELOW_TEMPERATURE = 1e-5;

/**
 * Draws one token, exactly: the result is a function of the row's raw logits, `sampling` and `u` alone. The
 * short list never changes it, it only saves reading the row.
 *
 * Definition. Candidates are the ids below `vocabLimit` with a logit above −∞, in canonical order:
 * descending logit, ties by ascending id. Then, in the order of vLLM's V1 sampler:
 * 1. temperature: weight wᵢ = exp((zᵢ − z₀) / temperature);
 * 2. min-p: drop wᵢ < minP (the best token weighs 1);
 * 3. top-k: keep the first k (vLLM keeps all that tie with the k-th; here exactly k remain);
 * 4. top-p: keep the shortest prefix whose weight reaches topP of what remains;
 * 5. inverse CDF over the rest: the first token whose cumulative weight exceeds u × the total.
 *
 * Temperature 0 (below {@link GREEDY_BELOW_TEMPERATURE}) takes the largest logit, of several the lowest id.
 *
 * @param u uniform in [0, 1)
 * @throws TokenrailError `numerical_failure` where the row holds NaN or +∞, or nothing but −∞
 */
export function sampleToken(
  input: SamplerInput,
  sampling: SamplingParams,
  u: number,
): { token: number; usedFullRow: boolean } {
  if (!Number.isFinite(input.logSumExp)) {
    throw new TokenrailError(
      'numerical_failure',
      `the logits are not finite (log-sum-exp ${input.logSumExp})`,
    );
  }
  const isGreedy = sampling.temperature < GREEDY_BELOW_TEMPERATURE;
  const list = sortedShortList(input);
  if (isGreedy) {
    if (list.numTrusted > 0) return { token: list.ids[0] ?? -1, usedFullRow: false };
    return { token: argmaxOfRow(input.readLogits(), input.vocabLimit), usedFullRow: true };
  }
  const token = drawFromShortList(list, input, sampling, u);
  if (token >= 0) return { token, usedFullRow: false };
  return { token: drawFromRow(input.readLogits(), input.vocabLimit, sampling, u), usedFullRow: true };
}
