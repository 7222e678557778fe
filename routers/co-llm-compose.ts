import type { Deferral } from './co-llm-deferral.ts';
import { compose, fromFields, likeliest, shortList, toFields } from './composition.ts';
import { defaultSend } from './default-hooks.ts';
import type { Router, RouteRow } from './router.ts';

/** Tokens of each model that may be chosen: what engines list anyway. */
const NUM_LISTED = 64;

/** The base's side of strategy `compose`: each deferral takes along how likely the base finds which token. */
function atHome(router: Router, defers: Deferral): Router {
  return {
    ...router,
    needs: { ...router.needs, topK: NUM_LISTED },
    send: (view, to, row) => {
      const plan = defaultSend(view, to);
      if (row === undefined) return plan;
      const { limit, logSumExp } = defers.words(row);
      return { ...plan, algo: toFields(defers.probability(row), shortList(row, logSumExp, limit)) };
    },
  };
}

/** The assistant's side: the likeliest token of the mixture; its own where the base sent nothing to mix with. */
function atGuest(router: Router): Router {
  const chosen = (row: RouteRow): number => {
    const sent = row.numSinceArrival === 0 ? fromFields(row.algo) : undefined;
    if (sent === undefined) return row.sampled;
    const mixture = compose(sent.g, sent.base, shortList(row, row.logSumExp ?? NaN));
    return likeliest(mixture) ?? row.sampled;
  };
  return { ...router, needs: { topK: NUM_LISTED }, choose: chosen };
}

export const composing = { atHome, atGuest };
