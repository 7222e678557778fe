import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultReceive, defaultSend } from '../../../routers/default-hooks.ts';
import { viewOf } from './rows.ts';

const tokenList = fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 12 });

describe('default hooks', () => {
  it('bring any receiver that holds a prefix up to the sender, whatever the sender believes of it', () => {
    fc.assert(
      fc.property(tokenList, fc.nat(12), fc.nat(12), (tokens, haveRaw, believedRaw) => {
        const have = Math.min(haveRaw, tokens.length);
        const believed = Math.min(believedRaw, tokens.length);
        const plan = defaultSend(viewOf(tokens, { 2: believed }), 2);
        const received = defaultReceive(viewOf(tokens.slice(0, have)), { from: 1, ...plan });
        if (believed > have) {
          expect(received).toEqual({ kind: 'gap', have });
          return;
        }
        if (received.kind !== 'append') throw new Error(`got ${received.kind}`);
        expect([...tokens.slice(0, have), ...received.tokens]).toEqual(tokens);
        expect(received.numSkipped).toBe(have - believed);
      }),
    );
  });

  it('are idempotent: the same handoff again adds nothing', () => {
    fc.assert(
      fc.property(tokenList, fc.nat(12), (tokens, startRaw) => {
        const start = Math.min(startRaw, tokens.length);
        const incoming = { from: 2, suffix: tokens.slice(start), loc: tokens.length };
        expect(defaultReceive(viewOf(tokens), incoming)).toEqual({
          kind: 'append',
          tokens: [],
          numSkipped: tokens.length - start,
        });
      }),
    );
  });

  it('add nothing where the receiver is already ahead', () => {
    const plan = defaultReceive(viewOf([1, 2, 3, 4, 5]), { from: 2, suffix: [2, 3], loc: 3 });
    expect(plan).toEqual({ kind: 'append', tokens: [], numSkipped: 2 });
  });

  it('report the first position at which both sides differ', () => {
    expect(defaultReceive(viewOf([1, 2, 3]), { from: 2, suffix: [2, 9, 4], loc: 4 })).toEqual({
      kind: 'conflict',
      position: 2,
    });
    expect(defaultReceive(viewOf([1, 2, 3]), { from: 2, suffix: [1, 2], loc: 1 })).toEqual({
      kind: 'conflict',
      position: 0,
    });
  });

  it('send nothing to a peer that is known to hold more than this model', () => {
    expect(defaultSend(viewOf([1, 2], { 3: 5 }), 3)).toEqual({ suffix: [], loc: 2 });
  });
});
