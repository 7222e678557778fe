import fc from 'fast-check';

/**
 * Numbers between two bounds, drawn evenly in 240 steps. `fc.double` draws evenly over the patterns of bits, so
 * that nearly all probabilities would be below 1e-10: nothing would be lost and nobody would hand over.
 */
export const between = (min: number, max: number): fc.Arbitrary<number> =>
  fc.integer({ min: 0, max: 240 }).map((step) => min + (step / 240) * (max - min));
