import { STAY, type ModelId } from '../core/request.ts';
import type { Router, RouteRow } from './router.ts';

/** The home's side of an algorithm whose guest writes one token at a time. */
export interface DoubtfulHome {
  needs: Router['needs'];
  /** What the decision is made from; also shown to the client. */
  signal: (row: RouteRow) => number;
  /** Whether the home's own token stands. Must be false for NaN, so that the stronger model decides. */
  isSure: (signal: number) => boolean;
}

/** R2R, CITER and Co-LLM at the home: an unsure token is discarded, and the guest writes that position. */
export function atHome(name: string, guest: ModelId, { needs, signal, isSure }: DoubtfulHome): Router {
  return {
    name,
    needs,
    onHandoff: 'discard',
    route: (rows) => rows.map((row) => (isSure(signal(row)) ? STAY : guest)),
    signal,
  };
}

/** … and at the guest: it keeps its token and returns. */
export function atGuest(name: string, home: ModelId): Router {
  return { name, needs: {}, onHandoff: 'keep', route: (rows) => rows.map(() => home) };
}
