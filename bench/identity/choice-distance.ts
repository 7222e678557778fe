import type { ModelId, SamplingParams } from '../../core/request.ts';
import type { SampledRow } from '../../engine/engine.ts';
import { fromFields, toFields } from '../../routers/composition.ts';
import type { Router, RouteRow } from '../../routers/router.ts';
import { drawDistance } from './draw-distance.ts';
import { MARGIN } from './margin.ts';

/** The row with everything that speaks for `token` less by the margin. */
function against(row: RouteRow, token: number): RouteRow {
  const sent = fromFields(row.algo);
  const lessLikely = (id: number, probability: number): number =>
    id === token ? probability * (1 - MARGIN) : probability;
  const base = sent && {
    ids: sent.base.ids,
    probabilities: sent.base.probabilities.map((p, i) => lessLikely(sent.base.ids[i] ?? -1, p)),
  };
  const topValues = row.topValues?.map((value, i) => (row.topIds?.[i] === token ? value - MARGIN : value));
  return {
    ...row,
    ...(topValues === undefined ? {} : { topValues }),
    ...(sent && base ? { algo: toFields(sent.g, base) } : {}),
  };
}

/**
 * How far the token that a row writes was from being another one. Sampled: distance of the draw from the edges of its
 * interval; greedy: difference of the two largest logits; chosen by the router (strategy `compose`): 0 where it would
 * choose another one within the margin, else Infinity.
 */
export function choiceDistance(
  router: Router,
  row: RouteRow,
  result: SampledRow,
  key: { model: ModelId; position: number; sampling: SamplingParams },
): number {
  const chosen = router.choose?.(row);
  if (chosen !== undefined && row.algo !== undefined)
    return router.choose?.(against(row, chosen)) === chosen ? Infinity : 0;
  if (key.sampling.temperature === 0 || !result.logits) return result.top2Margin;
  return drawDistance(result.logits, result.sampled, key);
}
