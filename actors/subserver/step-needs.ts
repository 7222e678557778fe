import type { SignalNeeds } from '../../engine/engine.ts';
import type { Router } from '../../routers/router.ts';

/** Union of what routers declared. */
export function unionNeeds(needs: Iterable<SignalNeeds>): SignalNeeds {
  const union: SignalNeeds = {};
  for (const need of needs) {
    if (need.topK !== undefined) union.topK = Math.max(union.topK ?? 0, need.topK);
    if (need.hidden) union.hidden = true;
    if (need.embedding) union.embedding = true;
    if (need.logits) union.logits = true;
    for (const head of need.heads ?? []) {
      if (!union.heads?.some(({ file }) => file === head.file)) union.heads = [...(union.heads ?? []), head];
    }
  }
  return union;
}

/** What one step asks of the engine. */
export interface StepNeeds {
  needs: SignalNeeds;
  /** Per row, what its own router declared; absent where that is what all declared. */
  ofRow?: readonly SignalNeeds[];
}

/**
 * Each row is asked for what its router declared and no more: a router that is allowed but not used by any row of a
 * step costs that step nothing, and its networks run over its own rows alone.
 * @param routerIds of the step's rows, in order
 */
export function stepNeeds(
  routerIds: readonly string[],
  routers: ReadonlyMap<string, Pick<Router, 'needs'>>,
): StepNeeds {
  const ofRow = routerIds.map((id) => routers.get(id)?.needs ?? {});
  const distinct = [...new Set(ofRow)];
  const needs = unionNeeds(distinct);
  return distinct.length === 1 ? { needs } : { needs, ofRow };
}
