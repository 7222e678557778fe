import type { SamplerInput } from './sampler-input.ts';

/** The short list in canonical order (descending logit, ties by ascending id), without masked tokens. */
export interface ShortList {
  values: Float32Array;
  ids: Int32Array;
  /** Allowed ids that are not listed and may have a logit above −∞. 0: the list holds every candidate. */
  numUnlisted: number;
  /** Leading entries whose rank is certain. Unlisted ids may tie with the smallest listed logit. */
  numTrusted: number;
}

export function sortedShortList(input: SamplerInput): ShortList {
  const { topValues, topIds, vocabLimit } = input;
  const values = new Float32Array(topValues.length);
  const ids = new Int32Array(topValues.length);
  let count = 0;
  let sawMasked = false;
  for (let i = 0; i < topValues.length; i += 1) {
    const value = topValues[i] ?? -Infinity;
    const id = topIds[i] ?? vocabLimit;
    if (value === -Infinity) sawMasked = true;
    if (id >= vocabLimit || !(value > -Infinity)) continue;
    insertCanonical(values, ids, count, value, id);
    count += 1;
  }
  const allowed = Math.min(vocabLimit, input.logitsWidth ?? vocabLimit);
  // Nothing unlisted exceeds what is listed: after one −∞ the rest is −∞.
  const numUnlisted = sawMasked ? 0 : Math.max(0, allowed - count);
  const last = values[count - 1] ?? -Infinity;
  let numTrusted = count;
  while (numUnlisted > 0 && numTrusted > 0 && values[numTrusted - 1] === last) numTrusted -= 1;
  return { values: values.subarray(0, count), ids: ids.subarray(0, count), numUnlisted, numTrusted };
}

/** Insertion from the end: the input is already descending, only ties may be out of order. */
function insertCanonical(
  values: Float32Array,
  ids: Int32Array,
  count: number,
  value: number,
  id: number,
): void {
  let slot = count;
  for (; slot > 0; slot -= 1) {
    const before = values[slot - 1] ?? Infinity;
    if (before > value || (before === value && (ids[slot - 1] ?? 0) < id)) break;
    values[slot] = before;
    ids[slot] = ids[slot - 1] ?? 0;
  }
  values[slot] = value;
  ids[slot] = id;
}
