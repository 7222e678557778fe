import type { ModelId } from '../core/request.ts';
import type { Incoming, ReceivePlan, SendPlan, SequenceView } from './router.ts';

/**
 * The suffix that model `to` is not known to hold; the whole sequence at first contact. The suffix may be
 * empty: a guest whose token the home doubted again still has that token to feed.
 */
export function defaultSend(view: SequenceView, to: ModelId): SendPlan {
  const { tokens, peerLocs } = view;
  return { suffix: tokens.slice(peerLocs.get(to) ?? 0), loc: tokens.length };
}

/**
 * Fits a handoff to the tokens held here. The suffix may overlap them (with three models and more the
 * sender's knowledge is often old): what both sides have must agree, since a difference means that one of
 * them missed a discard.
 */
export function defaultReceive(view: SequenceView, incoming: Incoming): ReceivePlan {
  const { tokens } = view;
  const { suffix, loc } = incoming;
  const start = loc - suffix.length;
  if (start < 0) return { kind: 'conflict', position: 0 };
  if (start > tokens.length) return { kind: 'gap', have: tokens.length };
  const numSkipped = Math.min(tokens.length - start, suffix.length);
  for (let i = 0; i < numSkipped; i += 1) {
    if (suffix[i] !== tokens[start + i]) return { kind: 'conflict', position: start + i };
  }
  return { kind: 'append', tokens: suffix.slice(numSkipped), numSkipped };
}
