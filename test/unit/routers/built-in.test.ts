import { describe, expect, it } from 'vitest';
import { alwaysLarge } from '../../../routers/always-large.ts';
import { alwaysSmall } from '../../../routers/always-small.ts';
import { rStitch } from '../../../routers/r-stitch.ts';
import { randomRouter } from '../../../routers/random.ts';
import { builtInRouters } from '../../../routers/registry.ts';
import { contextOf, rowOf, rowsWithEntropy, rowWithSeed, viewOf } from './rows.ts';

const HOME = 1;
const GUEST = 2;
const configError = (pattern: RegExp): Error =>
  expect.objectContaining({
    code: 'config_invalid',
    message: expect.stringMatching(pattern) as string,
  }) as Error;

describe('r-stitch', () => {
  it('leaves the home above the threshold only, and the guest at it and below', () => {
    const rows = rowsWithEntropy(0.0299, 0.03, 0.0301);
    expect(rStitch(contextOf(HOME)).route(rows)).toEqual([0, 0, GUEST]);
    expect(rStitch(contextOf(GUEST)).route(rows)).toEqual([HOME, HOME, 0]);
  });

  it('sends NaN to the large model, and back from it', () => {
    expect(rStitch(contextOf(HOME)).route(rowsWithEntropy(NaN))).toEqual([GUEST]);
    expect(rStitch(contextOf(GUEST)).route(rowsWithEntropy(NaN))).toEqual([HOME]);
  });

  it('discards at the home and keeps at the guest', () => {
    expect(rStitch(contextOf(HOME)).onHandoff).toBe('discard');
    expect(rStitch(contextOf(GUEST)).onHandoff).toBe('keep');
  });

  it('returns after maxSpanTokens tokens however unsure the guest is, and not before', () => {
    const unsureAfter = (numSinceArrival: number) => [rowOf({ normalizedEntropy: 1, numSinceArrival })];
    const guest = rStitch(contextOf(GUEST, { maxSpanTokens: 3 }));
    expect([0, 1, 2, 3].map((count) => guest.route(unsureAfter(count))[0])).toEqual([0, 0, HOME, HOME]);
    expect(guest.route(rowsWithEntropy(0))).toEqual([HOME]);
    const single = rStitch(contextOf(GUEST, { maxSpanTokens: 1 }));
    expect(single.route(rowsWithEntropy(0, 1, NaN))).toEqual([HOME, HOME, HOME]);
    expect(rStitch(contextOf(HOME, { maxSpanTokens: 1 })).route(rowsWithEntropy(0, 1))).toEqual([0, GUEST]);
    for (const maxSpanTokens of [0, 1.5, '1'])
      expect(() => rStitch(contextOf(HOME, { maxSpanTokens }))).toThrow(
        configError(/maxSpanTokens.*integer/),
      );
  });

  it('works for a home that is not model 1', () => {
    const context = { ...contextOf(2), home: 2 };
    expect(rStitch(context).route(rowsWithEntropy(0.5))).toEqual([1]);
  });
});

describe('always-small and always-large', () => {
  it('keep every token at the home', () => {
    const home = alwaysSmall(contextOf(HOME));
    expect(home.route(rowsWithEntropy(0, 1, NaN))).toEqual([0, 0, 0]);
    expect('first' in home).toBe(false);
    expect(alwaysSmall(contextOf(GUEST)).route(rowsWithEntropy(1))).toEqual([HOME]);
    expect(alwaysSmall(contextOf(HOME, {}, ['only'])).route(rowsWithEntropy(1))).toEqual([0]);
  });

  it('go to the guest before any step and stay there', () => {
    const home = alwaysLarge(contextOf(HOME));
    expect(home.first?.(viewOf([1, 2, 3]), rowOf().sampling)).toBe(GUEST);
    expect(home.route(rowsWithEntropy(0))).toEqual([GUEST]);
    expect(home.onHandoff).toBe('discard');
    const guest = alwaysLarge(contextOf(GUEST));
    expect(guest.route(rowsWithEntropy(0, 1, NaN))).toEqual([0, 0, 0]);
    expect(guest.onHandoff).toBe('keep');
  });
});

describe('random', () => {
  const destinations = (p: number, seed: number): number[] => {
    const rows = Array.from({ length: 2000 }, (_, position) => rowWithSeed(seed, position));
    return Array.from(randomRouter(contextOf(HOME, { p })).route(rows));
  };

  it('leaves with probability p, and never or always at the ends', () => {
    const share = destinations(0.35, 3).filter((destination) => destination === GUEST).length / 2000;
    expect(share).toBeGreaterThan(0.31);
    expect(share).toBeLessThan(0.39);
    expect(destinations(0, 3).every((destination) => destination === 0)).toBe(true);
    expect(destinations(1, 3).every((destination) => destination === GUEST)).toBe(true);
  });

  it('depends on seed and position alone: not on the rest of the batch, nor on the request id', () => {
    const alone = randomRouter(contextOf(HOME, { p: 0.5 }));
    const batch = destinations(0.5, 3);
    const oneByOne = batch.map((_, position) => {
      const row = { ...rowWithSeed(3, position), rid: `other-${position}` };
      return Array.from(alone.route([row]))[0];
    });
    expect(oneByOne).toEqual(batch);
    expect(destinations(0.5, 4)).not.toEqual(batch);
  });

  it('returns from the guest after one token, which is kept', () => {
    const guest = randomRouter(contextOf(GUEST, { p: 0.5 }));
    expect(guest.route([rowOf(), rowOf()])).toEqual([HOME, HOME]);
    expect(guest.onHandoff).toBe('keep');
  });
});

describe('options', () => {
  it('unknown ones are refused by name, by every built-in router', () => {
    for (const [name, factory] of builtInRouters) {
      const context = contextOf(HOME, { treshold: 0.1 });
      expect(() => factory(context)).toThrow(configError(new RegExp(`router ${name}: .*"treshold"`)));
    }
  });

  it('values of a wrong type or range are refused by name', () => {
    for (const bad of [-0.1, 1.1, NaN, '0.1', null, [0.1]]) {
      expect(() => rStitch(contextOf(HOME, { threshold: bad }))).toThrow(
        configError(/r-stitch.*"threshold".*0 to 1/),
      );
      expect(() => randomRouter(contextOf(HOME, { p: bad }))).toThrow(configError(/random.*"p".*0 to 1/));
    }
    expect(() => rStitch(contextOf(HOME, { guest: 'huge' }))).toThrow(
      configError(/"guest".*small, large.*"huge"/),
    );
    expect(() => rStitch(contextOf(HOME, { guest: 'small' }))).toThrow(configError(/"guest" names the home/));
  });

  it('two-model routers need a guest: the one that is named, else the last model that is not the home', () => {
    const three = ['small', 'medium', 'large'];
    for (const factory of [rStitch, alwaysLarge, randomRouter]) {
      expect(() => factory(contextOf(HOME, {}, ['only']))).toThrow(configError(/needs a second model/));
    }
    expect(rStitch(contextOf(HOME, {}, three)).route(rowsWithEntropy(1))).toEqual([3]);
    expect(rStitch({ ...contextOf(3, {}, three), home: 3 }).route(rowsWithEntropy(1))).toEqual([2]);
    expect(rStitch(contextOf(HOME, { guest: 'medium' }, three)).route(rowsWithEntropy(1))).toEqual([2]);
    // The model that takes no part would pass on a request given to it by mistake.
    expect(alwaysLarge(contextOf(2, {}, three)).route(rowsWithEntropy(1))).toEqual([3]);
    expect(rStitch(contextOf(2, {}, three)).route(rowsWithEntropy(0.01))).toEqual([HOME]);
  });
});
