import { describe, expect, it } from 'vitest';
import { defaultReceive, defaultSend } from '../../../routers/default-hooks.ts';
import { goldenVectors } from './golden.ts';
import { viewOf } from './rows.ts';

interface ReceiveInput {
  tokens: number[];
  kvLen: number;
  message: { from: number; to: number; tokenIds: number[]; loc: number };
}
type ReceiveExpected =
  | { committed: number[]; tokens: number[]; kvLen: number; nextFeed: number[] }
  | { error: 'gap'; missing: [number, number] };

describe('default receive, golden vectors', () => {
  for (const { id, input, expected } of goldenVectors<ReceiveInput, ReceiveExpected>('protocol', 'receive')) {
    it(id, () => {
      const { from, loc, tokenIds: suffix } = input.message;
      const plan = defaultReceive(viewOf(input.tokens), { from, loc, suffix });
      if ('error' in expected) {
        expect(plan).toEqual({ kind: 'gap', have: expected.missing[0] });
        expect(loc - suffix.length).toBe(expected.missing[1]);
        return;
      }
      if (plan.kind !== 'append') throw new Error(`got ${plan.kind}`);
      const tokens = [...input.tokens, ...plan.tokens];
      expect(plan.tokens).toEqual(expected.committed);
      expect(plan.numSkipped).toBe(suffix.length - expected.committed.length);
      expect(tokens).toEqual(expected.tokens);
      expect(tokens.slice(expected.kvLen)).toEqual(expected.nextFeed);
    });
  }
});

interface SendInput {
  tokens: number[];
  sampled: number;
  peerLoc: number;
  discard: boolean;
}
interface SendExpected {
  tokenIds: number[];
  loc: number;
  peerLocAfter: number;
  tokensAfter: number[];
}

describe('default send, golden vectors', () => {
  for (const { id, input, expected } of goldenVectors<SendInput, SendExpected>('protocol', 'send')) {
    it(id, () => {
      const tokens = input.discard ? input.tokens : [...input.tokens, input.sampled];
      const plan = defaultSend(viewOf(tokens, input.peerLoc === 0 ? {} : { 2: input.peerLoc }), 2);
      expect(plan).toEqual({ suffix: expected.tokenIds, loc: expected.loc });
      expect(plan.loc).toBe(expected.peerLocAfter);
      expect(tokens).toEqual(expected.tokensAfter);
    });
  }
});
