import type { SamplingParams } from '../../core/request.ts';
import type { SamplerInput } from './sampler-input.ts';
import type { ShortList } from './short-list.ts';
import { tailWeightBounds } from './tail-bounds.ts';
import { weightOf } from './weight.ts';

/** A quantity known to lie between two numbers. */
interface Interval {
  lo: number;
  hi: number;
}

/** Far above the rounding of a sum of 10^6 doubles, far below anything that would cost a look at the row. */
const ROUNDING = 1e-9;

/**
 * The draw of `drawFromRow` decided from the list alone, or −1 where the list does not prove it. Only
 * the total weight at the request's temperature is uncertain; it is enclosed in an interval and every
 * comparison must come out the same at both of its ends.
 */
export function drawFromShortList(
  list: ShortList,
  input: SamplerInput,
  sampling: SamplingParams,
  u: number,
): number {
  if (list.numTrusted === 0) return -1;
  const { cumulative, isComplete, hasMinPCut } = candidatesOf(list, sampling);
  const listed = cumulative.at(-1) ?? 0;
  const tail = isComplete ? { lo: 0, hi: 0 } : tailOf(list, input, sampling, hasMinPCut);
  const total = { lo: (listed + tail.lo) * (1 - ROUNDING), hi: (listed + tail.hi) * (1 + ROUNDING) };
  const kept = sampling.topP < 1 ? nucleusOf(cumulative, sampling.topP, total) : total;
  const index = cumulative.findIndex((sum) => sum > u * kept.lo);
  if (index < 0 || index >= list.numTrusted) return -1;
  const isCertain = (cumulative[index] ?? 0) > u * kept.hi;
  return isCertain ? (list.ids[index] ?? -1) : -1;
}

/** Listed candidates after min-p and top-k, as cumulative weights; complete: the rest of the row has none. */
function candidatesOf(
  list: ShortList,
  sampling: SamplingParams,
): { cumulative: number[]; isComplete: boolean; hasMinPCut: boolean } {
  const best = list.values[0] ?? 0;
  const cumulative: number[] = [];
  let sum = 0;
  for (const value of list.values) {
    if (sampling.topK > 0 && cumulative.length === sampling.topK) break;
    const weight = weightOf(value, best, sampling.temperature);
    if (!(weight > 0 && weight >= sampling.minP)) break;
    sum += weight;
    cumulative.push(sum);
  }
  const isCut = cumulative.length < list.values.length || cumulative.length === sampling.topK;
  return { cumulative, isComplete: isCut || list.numUnlisted === 0, hasMinPCut: sampling.minP > 0 };
}

/** Weight of the candidates that are not listed. */
function tailOf(
  list: ShortList,
  input: SamplerInput,
  sampling: SamplingParams,
  hasMinPCut: boolean,
): Interval {
  const bounds = tailWeightBounds(list, input, sampling.temperature);
  const best = list.values[0] ?? 0;
  const last = list.values[list.values.length - 1] ?? 0;
  const isTopKActive = sampling.topK > 0;
  const most = isTopKActive
    ? Math.min(list.numUnlisted, sampling.topK - list.values.length)
    : list.numUnlisted;
  const hi = Math.min(bounds.hi, most * weightOf(last, best, sampling.temperature));
  // Min-p and top-k may cut the tail anywhere.
  return { lo: hasMinPCut || isTopKActive ? 0 : Math.min(bounds.lo, hi), hi };
}

/** Weight of the nucleus when the total is only known to lie in an interval. */
function nucleusOf(cumulative: readonly number[], topP: number, total: Interval): Interval {
  const lo = cumulative.find((sum) => sum >= topP * total.lo);
  const hi = cumulative.find((sum) => sum >= topP * total.hi);
  return { lo: lo ?? topP * total.lo, hi: hi ?? total.hi };
}
