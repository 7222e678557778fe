import type { SubserverContext } from './context.ts';
import type { LiveRequest } from './live-request.ts';

/** Drops a request's KV; its tokens stay, and its next step computes the KV again. */
export function dropKv(context: SubserverContext, request: LiveRequest): void {
  request.kvLen = 0;
  context.ledger.free(request.seq);
  context.engine.release([request.seq]);
}

/**
 * Makes room for `request` to reach `lenTokens`: first the KV of parked guests, the longest parked first (it is
 * only a cache of what their homes hold), then of parked homes, then of waiting requests younger than `request`,
 * the youngest first. The oldest waiting request can take from all others, so somebody always moves.
 */
export function takeBackKv(
  context: SubserverContext,
  request: LiveRequest,
  lenTokens: number,
  planned: ReadonlySet<LiveRequest>,
): void {
  const { ledger, counters } = context;
  const needed = (): number => ledger.blocksFor(lenTokens) - ledger.blocksOf(request.seq) - ledger.freeBlocks;
  for (const victim of victims(context, request, planned)) {
    if (needed() <= 0) return;
    dropKv(context, victim);
    if (victim.lifecycle.phase === 'pending') {
      victim.lifecycle.send({ type: 'EVICT' });
      counters.add('kv_evictions');
    } else {
      victim.lifecycle.send({ type: 'PREEMPT' });
      counters.add('num_preemptions');
    }
  }
}

function victims(
  context: SubserverContext,
  request: LiveRequest,
  planned: ReadonlySet<LiveRequest>,
): LiveRequest[] {
  const holders = [...context.table.values()].filter(
    (other) =>
      other !== request && !other.isInStep && !planned.has(other) && context.ledger.blocksOf(other.seq) > 0,
  );
  const parked = holders.filter((other) => other.lifecycle.phase === 'pending');
  const guests = parked
    .filter((other) => other.role === 'guest')
    .sort((a, b) => a.lastHeardMs - b.lastHeardMs);
  const homes = parked.filter((other) => other.role === 'home').sort((a, b) => b.seq - a.seq);
  const younger = holders
    .filter((other) => other.lifecycle.phase === 'running' && other.seq > request.seq)
    .sort((a, b) => b.seq - a.seq);
  return [...guests, ...homes, ...younger];
}
