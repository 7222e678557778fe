import type { SubserverContext } from './context.ts';
import type { LiveRequest } from './live-request.ts';
import { takeBackKv } from './kv-pressure.ts';

/** A row of the next step: which tokens of which request are fed. */
export interface PlannedRow {
  request: LiveRequest;
  visit: number;
  past: number;
  count: number;
  /** Whether the feed reaches the last token, so that the next one can be drawn. */
  isComplete: boolean;
}

/** Feeds up to this many tokens count as decoding: they come before prompts when the token budget is short. */
const SHORT_FEED_TOKENS = 16;

/** First token without valid KV. A request with all KV feeds its last token again: a step needs one. */
function firstMissing(request: LiveRequest): number {
  return Math.min(request.kvLen, request.tokens.length - 1);
}

const isShort = (request: LiveRequest): boolean =>
  request.tokens.length - firstMissing(request) <= SHORT_FEED_TOKENS;

/**
 * Chooses the rows of the next step: waiting requests in order of arrival, at most `maxNumSeqs` rows and
 * `maxNumBatchedTokens` tokens. Prompts that do not fit the rest of the budget are fed in chunks.
 */
export function planBatch(context: SubserverContext): PlannedRow[] {
  const { ready, info, options } = context;
  const waiting = [...ready.values()];
  const rows: PlannedRow[] = [];
  const planned = new Set<LiveRequest>();
  let budget = options.maxNumBatchedTokens;
  const take = (request: LiveRequest): void => {
    if (rows.length >= info.maxNumSeqs || budget <= 0 || !ready.has(request)) return;
    const past = firstMissing(request);
    const missing = request.tokens.length - past;
    const count = Math.min(missing, budget);
    if (!reserve(context, request, past + count, planned)) return;
    budget -= count;
    planned.add(request);
    rows.push({ request, visit: request.visit, past, count, isComplete: count === missing });
  };
  // Requests beyond the row limit may move up only when an earlier one gets no memory.
  const front = waiting.slice(0, info.maxNumSeqs);
  front.filter(isShort).forEach(take);
  front.filter((request) => !isShort(request)).forEach(take);
  waiting.slice(info.maxNumSeqs).forEach(take);
  for (const { request } of rows) ready.remove(request);
  return rows;
}

function reserve(
  context: SubserverContext,
  request: LiveRequest,
  lenTokens: number,
  planned: ReadonlySet<LiveRequest>,
): boolean {
  if (context.ledger.tryReserve(request.seq, lenTokens)) return true;
  takeBackKv(context, request, lenTokens, planned);
  return context.ledger.tryReserve(request.seq, lenTokens);
}
