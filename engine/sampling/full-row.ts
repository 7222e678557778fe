import { TokenrailError } from '../../core/errors.ts';
import type { SamplingParams } from '../../core/request.ts';
import { CanonicalHeap } from './canonical-heap.ts';
import { weightOf } from './weight.ts';

/** Index of the largest logit below `vocabLimit`, the lowest of several; −1 if there is none above −∞. */
function bestOf(row: Float32Array, vocabLimit: number): number {
  const limit = Math.min(vocabLimit, row.length);
  let best = -1;
  let bestLogit = -Infinity;
  for (let id = 0; id < limit; id += 1) {
    const logit = row[id] ?? -Infinity;
    if (logit > bestLogit) {
      best = id;
      bestLogit = logit;
    }
  }
  return best;
}

/** Greedy choice. @throws TokenrailError `numerical_failure` if every allowed logit is −∞ or NaN, or one is +∞ */
export function argmaxOfRow(row: Float32Array, vocabLimit: number): number {
  const best = bestOf(row, vocabLimit);
  if (best < 0 || row[best] === Infinity) {
    throw new TokenrailError('numerical_failure', 'no allowed token has a finite logit');
  }
  return best;
}

interface Support {
  /** Candidates after min-p, in canonical order as they are popped. */
  heap: CanonicalHeap;
  /** Sum of their weights, added in order of the ids. */
  total: number;
  bestLogit: number;
}

function supportOf(row: Float32Array, vocabLimit: number, sampling: SamplingParams): Support {
  const bestLogit = row[argmaxOfRow(row, vocabLimit)] ?? 0;
  const limit = Math.min(vocabLimit, row.length);
  const ids = new Int32Array(limit);
  let count = 0;
  let total = 0;
  for (let id = 0; id < limit; id += 1) {
    const weight = weightOf(row[id] ?? -Infinity, bestLogit, sampling.temperature);
    // A weight of 0 (−∞, or underflow at a low temperature) can never be drawn; NaN fails both comparisons.
    if (weight > 0 && weight >= sampling.minP) {
      ids[count] = id;
      count += 1;
      total += weight;
    }
  }
  return { heap: new CanonicalHeap(row, ids.subarray(0, count)), total, bestLogit };
}

/**
 * The draw from a whole row; this function is the definition that the short list must meet. Candidates are
 * popped from a heap only as far as the draw reaches, because sorting 150,000 logits would cost more than
 * many a small model's step.
 */
export function drawFromRow(
  row: Float32Array,
  vocabLimit: number,
  sampling: SamplingParams,
  u: number,
): number {
  const { heap, total: totalBeforeTopK, bestLogit } = supportOf(row, vocabLimit, sampling);
  const ids: number[] = [];
  const cumulative: number[] = [];
  const isTopKActive = sampling.topK > 0 && sampling.topK < heap.size;
  const maxCandidates = isTopKActive ? sampling.topK : heap.size;

  /** Pops until the cumulative weight satisfies `enough`, or the candidates end; returns it. */
  const extendUntil = (enough: (sum: number) => boolean): number => {
    let sum = cumulative.at(-1) ?? 0;
    while (!(cumulative.length > 0 && enough(sum)) && cumulative.length < maxCandidates) {
      const id = heap.pop();
      sum += weightOf(row[id] ?? -Infinity, bestLogit, sampling.temperature);
      ids.push(id);
      cumulative.push(sum);
    }
    return sum;
  };

  const total = isTopKActive ? extendUntil(() => false) : totalBeforeTopK;
  const kept = sampling.topP < 1 ? nucleusMass(cumulative, sampling.topP * total, extendUntil) : total;
  const target = u * kept;
  extendUntil((sum) => sum > target);
  const index = cumulative.findIndex((sum) => sum > target);
  // Rounding may leave the last cumulative weight a few ulps below the total: then the last candidate is meant.
  return ids[index >= 0 ? index : ids.length - 1] ?? -1;
}

/** Weight of the shortest prefix that reaches `threshold`. */
function nucleusMass(
  cumulative: readonly number[],
  threshold: number,
  extendUntil: (enough: (sum: number) => boolean) => number,
): number {
  const reached = cumulative.find((sum) => sum >= threshold);
  return reached ?? extendUntil((sum) => sum >= threshold);
}
