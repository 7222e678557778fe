import type { SignalNeeds } from '../engine/engine.ts';
import type { RouteRow } from './router.ts';

/** The fields of a row that only those see who declared them. */
export type OptionalSignals = Pick<
  RouteRow,
  'topValues' | 'topIds' | 'hidden' | 'embedding' | 'logits' | 'scores'
>;

/**
 * Of what is there, what the router declared: others may have asked for more of the same row, and a router must
 * decide the same whether they did or not.
 */
export function visibleSignals(needs: SignalNeeds, there: OptionalSignals): OptionalSignals {
  const { topValues, topIds, hidden, embedding, logits, scores } = there;
  const { topK } = needs;
  return {
    ...(topK !== undefined && topValues && topIds
      ? { topValues: topValues.subarray(0, topK), topIds: topIds.subarray(0, topK) }
      : {}),
    ...(needs.hidden && hidden ? { hidden } : {}),
    ...(needs.embedding && embedding ? { embedding } : {}),
    ...(needs.logits && logits ? { logits } : {}),
    ...(needs.heads && scores ? { scores } : {}),
  };
}
