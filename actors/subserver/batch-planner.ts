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

/** Part of the token budget that a prompt at the head of the queue gets even if short feeds could use it all. */
const LEAST_SHARE_OF_FIRST = 0.25;

/** First token without valid KV. A request with all KV feeds its last token again: a step needs one. */
function firstMissing(request: LiveRequest): number {
  return Math.min(request.kvLen, request.tokens.length - 1);
}

const numMissing = (request: LiveRequest): number => request.tokens.length - firstMissing(request);

const isShort = (request: LiveRequest): boolean => numMissing(request) <= SHORT_FEED_TOKENS;

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
  const take = (request: LiveRequest, limitTokens = budget): void => {
    if (rows.length >= info.maxNumSeqs || budget <= 0 || planned.has(request)) return;
    const past = firstMissing(request);
    const missing = numMissing(request);
    const count = Math.min(missing, limitTokens);
    if (!reserve(context, request, past + count, planned)) return;
    budget -= count;
    planned.add(request);
    rows.push({ request, visit: request.visit, past, count, isComplete: count === missing });
  };
  // Requests beyond the row limit may move up only when an earlier one gets no memory.
  const front = waiting.slice(0, info.maxNumSeqs);
  const short = front.filter(isShort);
  const [first] = front;
  if (first && !isShort(first)) {
    // However many decode: the one that has waited longest moves on with every step.
    const left = budget - short.reduce((sum, request) => sum + numMissing(request), 0);
    take(first, Math.max(left, Math.ceil(budget * LEAST_SHARE_OF_FIRST)));
  }
  for (const request of [...short, ...front, ...waiting.slice(info.maxNumSeqs)]) take(request);
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
