import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entropyNats, normalizedEntropy } from '../../../routers/entropy.ts';

describe('entropy of logits', () => {
  it('is 1 for equal logits of any size and 0 for a certain row', () => {
    for (const logits of [
      [0, 0],
      [5, 5, 5],
      [-900, -900],
      [700, 700, 700, 700],
    ]) {
      expect(normalizedEntropy(logits)).toBeCloseTo(1, 12);
      expect(entropyNats(logits)).toBeCloseTo(Math.log(logits.length), 12);
    }
    expect(normalizedEntropy([1000, 0, -1000])).toBe(0);
  });

  it('takes a masked token as probability 0, and divides by the whole width all the same', () => {
    expect(entropyNats([1, 1, -Infinity, -Infinity])).toBeCloseTo(Math.LN2, 12);
    expect(normalizedEntropy([1, 1, -Infinity, -Infinity])).toBeCloseTo(0.5, 12);
    expect(normalizedEntropy([3, -Infinity])).toBe(0);
  });

  it('is NaN where there is no distribution', () => {
    for (const logits of [[NaN, 1], [1, NaN], [Infinity, 1], [-Infinity, -Infinity], []]) {
      expect(normalizedEntropy(logits)).toBeNaN();
    }
  });

  it('is 0 for a vocabulary of one token', () => {
    expect(normalizedEntropy([3])).toBe(0);
  });

  it('does not change with a shift of the logits and stays in [0, 1]', () => {
    const logit = fc.oneof(fc.double({ min: -50, max: 50, noNaN: true }), fc.constant(-Infinity));
    fc.assert(
      fc.property(
        fc.array(logit, { minLength: 2, maxLength: 40 }),
        fc.integer({ min: -99, max: 99 }),
        (logits, shift) => {
          fc.pre(logits.some((value) => value > -Infinity));
          const entropy = normalizedEntropy(logits);
          expect(entropy).toBeGreaterThanOrEqual(0);
          expect(entropy).toBeLessThanOrEqual(1 + 1e-12);
          expect(normalizedEntropy(logits.map((value) => value + shift))).toBeCloseTo(entropy, 9);
        },
      ),
    );
  });
});
