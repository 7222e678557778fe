import type { AlgoFields, RouteRow } from './router.ts';

/** The likeliest tokens of a model with their probabilities; all others count as 0. */
export interface ShortList {
  ids: readonly number[];
  probabilities: readonly number[];
}

/**
 * The row's listed tokens among the ids below `limit`.
 * @param logSumExp of the logits of those ids
 */
export function shortList(row: RouteRow, logSumExp: number, limit = Infinity): ShortList {
  const ids: number[] = [];
  const probabilities: number[] = [];
  (row.topIds ?? []).forEach((id, i) => {
    if (id >= limit) return;
    ids.push(id);
    probabilities.push(Math.exp((row.topValues?.[i] ?? NaN) - logSumExp));
  });
  return { ids, probabilities };
}

/** The list as fields of a handoff, with the weight `g` of the receiver in the mixture. */
export function toFields(g: number, { ids, probabilities }: ShortList): AlgoFields {
  return { deferProb: g, ids, probabilities };
}

/** What {@link toFields} made; undefined where it is something else, or not finite. */
export function fromFields(fields: AlgoFields | undefined): { g: number; base: ShortList } | undefined {
  const { deferProb, ids, probabilities } = fields ?? {};
  if (typeof deferProb !== 'number' || !Number.isFinite(deferProb)) return undefined;
  if (typeof ids !== 'object' || typeof probabilities !== 'object') return undefined;
  return { g: deferProb, base: { ids, probabilities } };
}

/** (1 − g)·p_base + g·p_assistant of every token that either lists, by ascending id. */
export function compose(g: number, base: ShortList, assistant: ShortList): Map<number, number> {
  const of = ({ ids, probabilities }: ShortList, id: number): number => probabilities[ids.indexOf(id)] ?? 0;
  const ids = [...new Set([...base.ids, ...assistant.ids])].sort((a, b) => a - b);
  return new Map(ids.map((id) => [id, (1 - g) * of(base, id) + g * of(assistant, id)]));
}

/** The likeliest token, of equals the one with the lowest id; undefined where nothing is comparable. */
export function likeliest(mixture: ReadonlyMap<number, number>): number | undefined {
  let best: number | undefined;
  let most = -Infinity;
  for (const [id, probability] of mixture) {
    if (probability > most) [best, most] = [id, probability];
  }
  return best;
}
