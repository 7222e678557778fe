import { STAY, type ModelId } from '../../core/request.ts';
import type { SampledRow, StepRow } from '../../engine/engine.ts';
import type { RouteRow, Router } from '../../routers/router.ts';
import type { BenchRequest } from './driver.ts';

/** The home is model 1 in every driver of this folder, the guest model 2. */
export const HOME: ModelId = 1;

/** A request and where it is. The baselines keep their own books of KV. */
export class RoutedRequest {
  readonly request: BenchRequest;
  readonly tokens: number[];
  readonly models: ModelId[] = [];
  /** Model that writes the next token. */
  at: ModelId = HOME;
  /** Tokens written since it came there. */
  numSinceArrival = 0;
  isOver = false;

  constructor(request: BenchRequest) {
    this.request = request;
    this.tokens = [...request.tokens];
  }

  get numGenerated(): number {
    return this.tokens.length - this.request.tokens.length;
  }
}

/** The feed that completes a sequence of which `kvLen` leading tokens are known, at most `maxTokens` of it. */
export function nextFeed(seq: number, one: RoutedRequest, kvLen: number, maxTokens: number): StepRow {
  const past = Math.min(kvLen, one.tokens.length - 1);
  const tokens = one.tokens.slice(past, past + maxTokens);
  const sample = past + tokens.length === one.tokens.length;
  return { seq, past, tokens, sample, sampling: one.request.sampling };
}

function routeRow(one: RoutedRequest, result: SampledRow): RouteRow {
  const { topValues, topIds, hidden, embedding, logits, scores, logSumExp } = result;
  return {
    rid: String(one.request.id),
    position: one.tokens.length,
    numGenerated: one.numGenerated,
    sampled: result.sampled,
    logprob: result.logprob,
    entropyNats: result.entropyNats,
    normalizedEntropy: result.normalizedEntropy,
    sampling: one.request.sampling,
    tokens: one.tokens,
    numSinceArrival: one.numSinceArrival,
    ...(topValues && topIds ? { topValues, topIds } : {}),
    ...(hidden ? { hidden } : {}),
    ...(embedding ? { embedding } : {}),
    ...(logits ? { logits } : {}),
    ...(scores ? { scores } : {}),
    ...(logSumExp === undefined ? {} : { logSumExp }),
  };
}

/** What became of a sampled token. */
export interface Settled {
  /** The token counts; false: the request leaves and the other model writes this position. */
  isCommitted: boolean;
  /** The request moved to another model. */
  hasMoved: boolean;
}

/**
 * Routes the rows of one step and applies what the router said, by the runtime's rules: a row that leaves
 * discards its token if the router discards, but a guest keeps the first token of every visit.
 */
export function settle(
  router: Router,
  rows: readonly { one: RoutedRequest; result: SampledRow }[],
): Settled[] {
  const destinations = router.route(rows.map(({ one, result }) => routeRow(one, result)));
  return rows.map(({ one, result }, index) => {
    const destination = destinations[index] ?? STAY;
    const mustKeep = one.at !== HOME && one.numSinceArrival === 0;
    const isCommitted = destination === STAY || router.onHandoff === 'keep' || mustKeep;
    if (isCommitted) {
      one.tokens.push(result.sampled);
      one.models.push(one.at);
      one.numSinceArrival += 1;
      const { stopIds, maxTokens } = one.request;
      one.isOver = stopIds.includes(result.sampled) || one.numGenerated >= maxTokens;
    }
    const hasMoved = destination !== STAY && !one.isOver;
    if (hasMoved) {
      one.at = destination;
      one.numSinceArrival = 0;
    }
    return { isCommitted, hasMoved };
  });
}
