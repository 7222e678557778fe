import { logSumExp } from './log-sum-exp.ts';
import { routerHead, scoreOf } from './router-head.ts';
import type { Router, RouteRow } from './router.ts';

const ARCHITECTURE = 'LinearHead';

/** Where the probability of deferring comes from. */
export interface Deferral {
  needs: Router['needs'];
  probability: (row: RouteRow) => number;
  /** The base's words are the ids below `limit`; log-sum-exp of their logits alone. */
  words: (row: RouteRow) => { limit: number; logSumExp: number };
  /** The threshold stored with the head, if any. */
  threshold: number | undefined;
}

/** @throws TokenrailError `config_invalid` naming the router and what is wrong with the head's file */
export function deferral(
  router: string,
  options: { head: string | undefined; deferToken: number | undefined },
): Deferral {
  const { deferToken } = options;
  if (deferToken !== undefined) return byToken(deferToken);
  const head = routerHead(router, options.head, ARCHITECTURE);
  return {
    needs: { heads: [head.spec] },
    probability: (row) => scoreOf(row, head.spec),
    words: (row) => ({ limit: Infinity, logSumExp: row.logSumExp ?? NaN }),
    threshold: head.threshold,
  };
}

function byToken(deferToken: number): Deferral {
  const logitsOf = ({ logits }: RouteRow): Float32Array => {
    if (logits !== undefined && deferToken < logits.length) return logits;
    throw new Error(`the model has no logit ${deferToken}`);
  };
  return {
    needs: { logits: true },
    probability: (row) => 1 / (1 + Math.exp(-(logitsOf(row)[deferToken] ?? NaN))),
    words: (row) => ({
      limit: deferToken,
      logSumExp: logSumExp(logitsOf(row).subarray(0, deferToken)),
    }),
    threshold: undefined,
  };
}
