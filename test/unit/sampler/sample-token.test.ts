import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sampleToken } from '../../../engine/sampler.ts';
import { GREEDY, inputOf, params } from './reference.ts';

const failure = expect.objectContaining({ code: 'numerical_failure' }) as Error;

describe('greedy', () => {
  it('takes the largest logit, of several the lowest id, with and without the list', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constant(-Infinity)), {
          minLength: 1,
          maxLength: 20,
        }),
        fc.integer({ min: 0, max: 22 }),
        fc.constantFrom<'ascending' | 'descending'>('ascending', 'descending'),
        (values, k, tieOrder) => {
          fc.pre(values.some((value) => value > -Infinity));
          const row = Float32Array.from(values);
          const expected = values.indexOf(Math.max(...values));
          expect(sampleToken(inputOf(row, k, { tieOrder }).input, GREEDY, 0.7).token).toBe(expected);
          expect(
            sampleToken(inputOf(row, k, { tieOrder }).input, params({ temperature: 9e-6 }), 0.7).token,
          ).toBe(expected);
        },
      ),
    );
  });

  it('reads the row only when the whole list ties', () => {
    const tied = Float32Array.from([1, 5, 5, 5, 0]);
    expect(sampleToken(inputOf(tied, 2, { tieOrder: 'descending' }).input, GREEDY, 0)).toEqual({
      token: 1,
      usedFullRow: true,
    });
    expect(sampleToken(inputOf(tied, 4, { tieOrder: 'descending' }).input, GREEDY, 0)).toEqual({
      token: 1,
      usedFullRow: false,
    });
  });

  it('never takes an id of the padding', () => {
    const row = Float32Array.from([1, 2, 99, 99]);
    for (const k of [0, 1, 2, 3, 4]) {
      expect(sampleToken(inputOf(row, k, { vocabLimit: 2 }).input, GREEDY, 0).token).toBe(1);
    }
  });
});

describe('order of the filters', () => {
  // Weights 8, 4, 2, 1, 1 of 16.
  const row = Float32Array.from([8, 4, 2, 1, 1].map(Math.log));
  const support = (change: Parameters<typeof params>[0]) => {
    const drawParams = params(change);
    const seen = new Set<number>();
    for (let i = 0; i < 1024; i += 1)
      seen.add(sampleToken(inputOf(row, 5).input, drawParams, i / 1024).token);
    return [...seen].sort();
  };

  it('measures the nucleus on what min-p and top-k leave', () => {
    expect(support({ topP: 0.8 })).toEqual([0, 1, 2]);
    // Min-p 0.3 leaves 8 and 4: the first alone has 0.667 of it.
    expect(support({ topP: 0.6, minP: 0.3 })).toEqual([0]);
    expect(support({ topP: 0.6 })).toEqual([0, 1]);
    expect(support({ topP: 0.6, topK: 2 })).toEqual([0]);
  });

  it('applies the temperature before all of them', () => {
    // At temperature 0.5 the weights are 64, 16, 4, 1, 1.
    expect(support({ temperature: 0.5, minP: 0.2 })).toEqual([0, 1]);
    expect(support({ minP: 0.2 })).toEqual([0, 1, 2]);
    expect(support({ temperature: 0.5, topP: 0.7 })).toEqual([0]);
  });

  it('keeps at least one token, and exactly k of those that tie', () => {
    expect(support({ topP: 1e-9 })).toEqual([0]);
    expect(support({ minP: 1 })).toEqual([0]);
    expect(support({ topK: 4 })).toEqual([0, 1, 2, 3]);
    expect(support({ topK: 1 })).toEqual([0]);
    expect(support({ topK: 0 })).toEqual([0, 1, 2, 3, 4]);
  });
});

describe('failures', () => {
  it('refuses a row whose log-sum-exp is not finite', () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      const { input } = inputOf(Float32Array.from([1, 2, 3]), 2);
      input.logSumExp = bad;
      expect(() => sampleToken(input, params(), 0.5)).toThrow(failure);
      expect(() => sampleToken(input, GREEDY, 0.5)).toThrow(failure);
    }
  });

  it('refuses a row in which only the padding has a finite logit', () => {
    const row = Float32Array.from([-Infinity, -Infinity, 4]);
    for (const k of [0, 1, 3]) {
      const { input } = inputOf(row, k, { vocabLimit: 2 });
      expect(() => sampleToken(input, params(), 0.5)).toThrow(failure);
      expect(() => sampleToken(input, GREEDY, 0.5)).toThrow(failure);
    }
  });
});
