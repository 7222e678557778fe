import type { SamplingParams } from '../../../core/request.ts';
import type { SamplerInput } from '../../../engine/sampler.ts';

/** Greedy with everything off. */
export const GREEDY: SamplingParams = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 };

/** Plain sampling at temperature 1; `change` sets what a test is about. */
export function params(change: Partial<SamplingParams> = {}): SamplingParams {
  return { ...GREEDY, temperature: 1, ...change };
}

/** ln Σ exp over a row, in double precision. */
export function logSumExpOf(row: Float32Array): number {
  let best = -Infinity;
  for (const value of row) best = Math.max(best, value);
  if (!Number.isFinite(best)) return best;
  let sum = 0;
  for (const value of row) sum += Math.exp(value - best);
  return best + Math.log(sum);
}

/** The distribution that the definition describes, computed the plain way: sort everything, filter, renormalise. */
export function referenceDistribution(
  row: Float32Array,
  vocabLimit: number,
  sampling: SamplingParams,
): { id: number; p: number }[] {
  const all = [...row]
    .map((z, id) => ({ z, id }))
    .filter((token) => token.id < vocabLimit && token.z > -Infinity);
  all.sort((a, b) => b.z - a.z || a.id - b.id);
  const best = all[0]?.z ?? 0;
  let tokens = all.map(({ z, id }) => ({
    id,
    p: Math.exp(z / sampling.temperature - best / sampling.temperature),
  }));
  tokens = tokens.filter((token) => token.p >= sampling.minP);
  if (sampling.topK > 0) tokens = tokens.slice(0, sampling.topK);
  const total = tokens.reduce((sum, token) => sum + token.p, 0);
  let before = 0;
  tokens = tokens.filter((token) => {
    const isKept = before < sampling.topP * total;
    before += token.p;
    return isKept;
  });
  const kept = tokens.reduce((sum, token) => sum + token.p, 0);
  return tokens.map((token) => ({ id: token.id, p: token.p / kept }));
}

/** An input whose short list holds the k best, ties in `tieOrder`; reads of the row are counted. */
export function inputOf(
  row: Float32Array,
  k: number,
  options: {
    vocabLimit?: number;
    tieOrder?: 'ascending' | 'descending';
    lseNoise?: number;
    isWidthKnown?: boolean;
  } = {},
): { input: SamplerInput; reads: () => number } {
  const vocabLimit = options.vocabLimit ?? row.length;
  const sign = options.tieOrder === 'descending' ? -1 : 1;
  // As a graph does it: the k best of the whole row first, the padding is removed from them afterwards.
  const ids = [...row.keys()]
    .sort((a, b) => {
      const [za, zb] = [row[a] ?? 0, row[b] ?? 0];
      return za === zb ? sign * (a - b) : zb > za ? 1 : -1;
    })
    .slice(0, k)
    .filter((id) => id < vocabLimit);
  let reads = 0;
  const input: SamplerInput = {
    topIds: Int32Array.from(ids),
    topValues: Float32Array.from(ids, (id) => row[id] ?? 0),
    logSumExp: logSumExpOf(row) + (options.lseNoise ?? 0),
    readLogits: () => {
      reads += 1;
      return row;
    },
    vocabLimit,
    ...(options.isWidthKnown === false ? {} : { logitsWidth: row.length }),
  };
  return { input, reads: () => reads };
}
