import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planBatch } from '../../../actors/subserver/batch-planner.ts';
import type { SubserverContext } from '../../../actors/subserver/context.ts';
import { Counters } from '../../../actors/subserver/counters.ts';
import type { LiveRequest } from '../../../actors/subserver/live-request.ts';
import { ReadyQueue } from '../../../actors/subserver/ready-queue.ts';
import { RequestTable } from '../../../actors/subserver/request-table.ts';
import { KvLedger } from '../../../engine/kv.ts';
import { homeRequest } from '../../helpers/live-requests.ts';

interface Limits {
  maxNumSeqs: number;
  budget: number;
  blocks: number;
}

/** Only what the planner touches of a subserver; KV blocks of 4 tokens. */
function context({ maxNumSeqs, budget, blocks }: Limits): SubserverContext & { released: number[] } {
  const released: number[] = [];
  const parts = {
    ready: new ReadyQueue(),
    table: new RequestTable(),
    ledger: new KvLedger(blocks, 4),
    counters: new Counters(),
    info: { maxNumSeqs },
    options: { maxNumBatchedTokens: budget },
    engine: { release: (seqs: readonly number[]) => released.push(...seqs) },
    released,
  };
  return parts as unknown as SubserverContext & { released: number[] };
}

/** A request with `kvLen` of its tokens computed; its blocks are accounted. */
function add(on: SubserverContext, seq: number, promptLen: number, kvLen: number): LiveRequest {
  const request = homeRequest(`req-${seq}`, seq, promptLen);
  request.kvLen = kvLen;
  if (kvLen > 0) expect(on.ledger.tryReserve(seq, kvLen)).toBe(true);
  on.table.add(request);
  return request;
}

const wait = (on: SubserverContext, ...requests: LiveRequest[]): void =>
  requests.forEach((request) => on.ready.push(request, 0));

const plan = (on: SubserverContext): [number, number, number, boolean][] =>
  planBatch(on).map(({ request, past, count, isComplete }) => [request.seq, past, count, isComplete]);

describe('the batch planner', () => {
  it('feeds what is missing, or the last token again when nothing is', () => {
    const on = context({ maxNumSeqs: 8, budget: 100, blocks: 100 });
    wait(on, add(on, 1, 10, 0), add(on, 2, 10, 7), add(on, 3, 10, 10));
    expect(plan(on)).toEqual([
      [1, 0, 10, true],
      [2, 7, 3, true],
      [3, 9, 1, true],
    ]);
    expect(on.ready.size).toBe(0);
  });

  it('gives short feeds their tokens before prompts, which share the rest in chunks', () => {
    const on = context({ maxNumSeqs: 8, budget: 30, blocks: 100 });
    wait(on, add(on, 1, 20, 19), add(on, 2, 40, 0), add(on, 3, 20, 18), add(on, 4, 50, 0));
    expect(plan(on)).toEqual([
      [1, 19, 1, true],
      [3, 18, 2, true],
      [2, 0, 27, false],
    ]);
    expect([...on.ready.values()].map(({ seq }) => seq)).toEqual([4]);
  });

  it('lets a prompt at the head of the queue move on, however many decode', () => {
    const on = context({ maxNumSeqs: 8, budget: 4, blocks: 100 });
    wait(on, add(on, 9, 40, 0), ...[1, 2, 3, 4, 5].map((seq) => add(on, seq, 8, 7)));
    expect(plan(on)).toEqual([
      [9, 0, 1, false],
      [1, 7, 1, true],
      [2, 7, 1, true],
      [3, 7, 1, true],
    ]);
  });

  it('takes KV of parked requests first, then of younger waiting ones, never of those already chosen', () => {
    const on = context({ maxNumSeqs: 8, budget: 100, blocks: 6 });
    const [old, parked, young] = [add(on, 1, 8, 7), add(on, 2, 8, 8), add(on, 3, 8, 7)];
    old.append(9, 1, 0);
    parked.lifecycle.send({ type: 'HANDOFF', to: 2 });
    wait(on, old, young);
    expect(plan(on)).toEqual([
      [1, 7, 2, true],
      [3, 7, 1, true],
    ]);
    expect(on.released).toEqual([2]);
    expect(parked.lifecycle.state).toBe('pending.evicted');

    const tight = context({ maxNumSeqs: 8, budget: 100, blocks: 4 });
    const [first, second] = [add(tight, 1, 8, 7), add(tight, 2, 8, 7)];
    first.append(9, 1, 0);
    wait(tight, second, first);
    // The younger one stands before it and is chosen; the older one gets no memory of a chosen row.
    expect(plan(tight)).toEqual([[2, 7, 1, true]]);
    wait(tight, second);
    expect(plan(tight)).toEqual([[1, 7, 2, true]]);
    expect(second.kvLen).toBe(0);
    expect(second.lifecycle.state).toBe('running.preempted');
  });

  it('stays inside rows, tokens and memory, and always chooses somebody', () => {
    const request = fc.record({
      promptLen: fc.integer({ min: 1, max: 40 }),
      kvShare: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    const limits = fc.record({
      maxNumSeqs: fc.integer({ min: 1, max: 6 }),
      budget: fc.integer({ min: 1, max: 64 }),
      blocks: fc.integer({ min: 10, max: 40 }),
    });
    fc.assert(
      fc.property(limits, fc.array(request, { minLength: 1, maxLength: 12 }), (given, requests) => {
        const on = context(given);
        requests.forEach(({ promptLen, kvShare }, index) => {
          const wanted = Math.floor(promptLen * kvShare);
          const kvLen = on.ledger.blocksFor(wanted) <= on.ledger.freeBlocks ? wanted : 0;
          wait(on, add(on, index + 1, promptLen, kvLen));
        });
        const rows = planBatch(on);
        expect(rows.length).toBeGreaterThan(0);
        expect(rows.length).toBeLessThanOrEqual(given.maxNumSeqs);
        expect(rows.reduce((sum, { count }) => sum + count, 0)).toBeLessThanOrEqual(given.budget);
        expect(new Set(rows.map(({ request: { seq } }) => seq)).size).toBe(rows.length);
        expect(on.ledger.usedBlocks).toBeLessThanOrEqual(given.blocks);
        for (const {
          request: { seq, tokens, kvLen },
          past,
          count,
          isComplete,
        } of rows) {
          expect(past).toBeLessThanOrEqual(kvLen);
          expect(count).toBeGreaterThan(0);
          expect(isComplete).toBe(past + count === tokens.length);
          expect(on.ledger.blocksOf(seq)).toBe(on.ledger.blocksFor(past + count));
        }
      }),
    );
  });
});
