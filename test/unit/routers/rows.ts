import type { SamplingParams } from '../../../core/request.ts';
import type { RouteRow, RouterContext, SequenceView } from '../../../routers/router.ts';

const SAMPLING: SamplingParams = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 7 };

/** A row as a subserver builds it; a test sets what it is about. */
export function rowOf(change: Partial<RouteRow> = {}): RouteRow {
  return {
    rid: 'req-1',
    position: 3,
    numGenerated: 0,
    sampled: 4,
    logprob: -0.1,
    entropyNats: 0.5,
    normalizedEntropy: 0.1,
    sampling: SAMPLING,
    tokens: [1, 2, 3],
    numSinceArrival: 0,
    ...change,
  };
}

/** Rows that differ in their entropy only. */
export function rowsWithEntropy(...entropies: number[]): RouteRow[] {
  return entropies.map((normalizedEntropy, index) => rowOf({ rid: `req-${index}`, normalizedEntropy }));
}

export function rowWithSeed(seed: number, position: number): RouteRow {
  return rowOf({ position, sampling: { ...SAMPLING, seed } });
}

/** A deployment of `small` (the home) and `large`, or of more; the router is made for `self`. */
export function contextOf(
  self: number,
  options: Record<string, unknown> = {},
  names = ['small', 'large'],
): RouterContext {
  return { self, home: 1, models: names.map((name, index) => ({ id: index + 1, name })), options };
}

export function viewOf(tokens: readonly number[], peerLocs: Record<number, number> = {}): SequenceView {
  const locs = Object.entries(peerLocs).map(([model, loc]) => [Number(model), loc] as const);
  return { rid: 'req-1', tokens, promptLen: Math.min(3, tokens.length), peerLocs: new Map(locs) };
}
