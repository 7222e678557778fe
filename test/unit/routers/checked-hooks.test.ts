import { describe, expect, it } from 'vitest';
import { firstChecked, receiveChecked, sendChecked, signalOf } from '../../../routers/checked-hooks.ts';
import type { Router } from '../../../routers/router.ts';
import { rowOf, viewOf } from './rows.ts';

const SCOPE = { self: 1, numModels: 2 };
const SAMPLING = rowOf().sampling;
const VIEW = viewOf([1, 2, 3, 4], { 2: 2 });
const INCOMING = { from: 2, suffix: [5], loc: 5 };

/** A router with hooks that no compiler checked. */
function routerOf(hooks: Record<string, unknown> = {}): Router {
  return {
    name: 'mine',
    needs: {},
    onHandoff: 'keep',
    route: (rows) => rows.map(() => 0),
    ...hooks,
  };
}
const boom = () => {
  throw new Error('boom');
};
const failure = (pattern: RegExp): Error =>
  expect.objectContaining({
    code: 'router_failed',
    message: expect.stringMatching(pattern) as string,
  }) as Error;

describe('the optional hooks', () => {
  it('have the defaults of the contract', () => {
    const router = routerOf();
    expect(firstChecked(router, VIEW, SAMPLING, SCOPE)).toBe(0);
    expect(sendChecked(router, VIEW, 2)).toEqual({ suffix: [3, 4], loc: 4 });
    expect(receiveChecked(router, VIEW, INCOMING)).toEqual({ kind: 'append', tokens: [5], numSkipped: 0 });
    expect(signalOf(router, rowOf({ normalizedEntropy: 0.25 }))).toBe(0.25);
  });

  it('are called as methods of the router', () => {
    const router = routerOf({
      factor: 2,
      signal(this: { factor: number }) {
        return this.factor;
      },
    });
    expect(signalOf(router, rowOf())).toBe(2);
  });

  it('fail with the names of router and hook', () => {
    const router = routerOf({ first: boom, send: boom, receive: boom, signal: boom });
    expect(() => firstChecked(router, VIEW, SAMPLING, SCOPE)).toThrow(failure(/mine: first threw: boom/));
    expect(() => sendChecked(router, VIEW, 2)).toThrow(failure(/mine: send threw: boom/));
    expect(() => receiveChecked(router, VIEW, INCOMING)).toThrow(failure(/mine: receive threw: boom/));
    expect(signalOf(router, rowOf())).toBeNaN();
  });

  it('may begin at any model, and nowhere else', () => {
    expect(firstChecked(routerOf({ first: () => 2 }), VIEW, SAMPLING, SCOPE)).toBe(2);
    expect(firstChecked(routerOf({ first: () => 1 }), VIEW, SAMPLING, SCOPE)).toBe(0);
    for (const bad of [3, NaN, undefined, '2']) {
      expect(() => firstChecked(routerOf({ first: () => bad }), VIEW, SAMPLING, SCOPE)).toThrow(
        failure(/mine/),
      );
    }
  });

  it('may send any part that ends the sequence, and nothing else', () => {
    const whole = { suffix: [1, 2, 3, 4], loc: 4, algo: { score: 0.5 } };
    expect(sendChecked(routerOf({ send: () => whole }), VIEW, 2)).toBe(whole);
    const bad = [
      undefined,
      {},
      { suffix: [4], loc: 5 },
      { suffix: [9], loc: 4 },
      { suffix: '4', loc: 4 },
      { suffix: [4, 4], loc: 1 },
    ];
    for (const plan of bad)
      expect(() => sendChecked(routerOf({ send: () => plan }), VIEW, 2)).toThrow(failure(/send/));
  });

  it('may receive with a plan of the contract only', () => {
    const gap = { kind: 'gap', have: 4 };
    expect(receiveChecked(routerOf({ receive: () => gap }), VIEW, INCOMING)).toBe(gap);
    for (const plan of [
      undefined,
      'append',
      { kind: 'append' },
      { kind: 'append', tokens: [NaN] },
      { kind: 'later' },
    ]) {
      expect(() => receiveChecked(routerOf({ receive: () => plan }), VIEW, INCOMING)).toThrow(
        failure(/receive/),
      );
    }
  });

  it('give NaN for a signal that is no number', () => {
    expect(signalOf(routerOf({ signal: () => 'high' }), rowOf())).toBeNaN();
  });
});
