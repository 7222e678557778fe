import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { philox4x32, uniform, type DrawKey, type DrawPurpose } from '../../../core/random.ts';

type Four = [number, number, number, number];

describe('philox4x32', () => {
  // Known answers of the Random123 distribution (kat_vectors, philox4x32-10).
  const known: [string, Four, [number, number], Four][] = [
    ['all zeros', [0, 0, 0, 0], [0, 0], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]],
    [
      'all ones',
      [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
      [0xffffffff, 0xffffffff],
      [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
    ],
    [
      'digits of pi',
      [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      [0xa4093822, 0x299f31d0],
      [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    ],
  ];
  for (const [name, counter, key, expected] of known) {
    it(`gives the known answer for ${name}`, () => expect(philox4x32(counter, key)).toEqual(expected));
  }

  it('multiplies like 64-bit integers (checked with BigInt on one round of the rest)', () => {
    const word = fc.integer({ min: 0, max: 0xffffffff });
    fc.assert(
      fc.property(fc.tuple(word, word, word, word), fc.tuple(word, word), (counter, key) => {
        expect(philox4x32(counter, key)).toEqual(philoxByBigInt(counter, key));
      }),
    );
  });
});

/** The same ten rounds in arbitrary precision. */
function philoxByBigInt(counter: readonly number[], key: readonly number[]): number[] {
  const mask = 0xffffffffn;
  let [c0 = 0n, c1 = 0n, c2 = 0n, c3 = 0n] = counter.map(BigInt);
  let [k0 = 0n, k1 = 0n] = key.map(BigInt);
  for (let round = 0; round < 10; round += 1) {
    const product0 = c0 * 0xd2511f53n;
    const product1 = c2 * 0xcd9e8d57n;
    [c0, c1, c2, c3] = [
      (product1 >> 32n) ^ c1 ^ k0,
      product1 & mask,
      (product0 >> 32n) ^ c3 ^ k1,
      product0 & mask,
    ];
    k0 = (k0 + 0x9e3779b9n) & mask;
    k1 = (k1 + 0xbb67ae85n) & mask;
  }
  return [c0, c1, c2, c3].map(Number);
}

const PURPOSES: readonly DrawPurpose[] = ['sample', 'route', 'admission', 'simulation'];
const BASE: DrawKey = { seed: 42, position: 17, model: 1, purpose: 'sample' };

describe('uniform', () => {
  const key: fc.Arbitrary<DrawKey> = fc.record({
    seed: fc.maxSafeInteger(),
    position: fc.integer({ min: 0, max: 0xffffffff }),
    model: fc.integer({ min: 0, max: 1000 }),
    purpose: fc.constantFrom(...PURPOSES),
  });

  it('lies in [0, 1) and depends on its key alone', () => {
    fc.assert(
      fc.property(key, (drawKey) => {
        const value = uniform(drawKey);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThan(1);
        expect(uniform({ ...drawKey })).toBe(value);
      }),
    );
  });

  it('differs when any part of the key differs, the high half and the sign of the seed included', () => {
    const values = [
      BASE,
      { ...BASE, seed: 43 },
      { ...BASE, seed: -42 },
      { ...BASE, seed: 42 + 2 ** 32 },
      { ...BASE, seed: 42 + 2 ** 52 },
      { ...BASE, position: 18 },
      { ...BASE, model: 2 },
      ...PURPOSES.slice(1).map((purpose) => ({ ...BASE, purpose })),
    ].map(uniform);
    expect(new Set(values).size).toBe(values.length);
  });

  it('never changes: these values are part of every answer with a seed', () => {
    // 53 bits: the upper 27 of the first word and the upper 26 of the second.
    const [a, b] = philox4x32([17, 1, 1, 0], [42, 0]);
    expect(uniform(BASE)).toBe(((a >>> 5) * 2 ** 26 + (b >>> 6)) / 2 ** 53);
    const [c, d] = philox4x32([17, 1, 2, 0], [2 ** 32 - 42, 2 ** 32 - 1]);
    expect(uniform({ ...BASE, seed: -42, purpose: 'route' })).toBe(
      ((c >>> 5) * 2 ** 26 + (d >>> 6)) / 2 ** 53,
    );
  });

  it('fills [0, 1) evenly along positions, seeds and models (χ² over 64 bins, 0.1 % level)', () => {
    const along: ((i: number) => DrawKey)[] = [
      (i) => ({ ...BASE, position: i }),
      (i) => ({ ...BASE, seed: i }),
      (i) => ({ ...BASE, model: i }),
    ];
    for (const keyAt of along) {
      const counts = new Array<number>(64).fill(0);
      for (let i = 0; i < 32_000; i += 1) {
        const bin = Math.floor(uniform(keyAt(i)) * 64);
        counts[bin] = (counts[bin] ?? 0) + 1;
      }
      const chiSquare = counts.reduce((sum, count) => sum + (count - 500) ** 2 / 500, 0);
      expect(chiSquare).toBeLessThan(103.4);
    }
  });

  it('has no correlation between neighbouring positions', () => {
    let sum = 0;
    const n = 20_000;
    for (let i = 0; i < n; i += 1) {
      sum += (uniform({ ...BASE, position: i }) - 0.5) * (uniform({ ...BASE, position: i + 1 }) - 0.5);
    }
    // Standard deviation of the mean is 1 / (12 √n).
    expect(Math.abs(sum / n) * 12 * Math.sqrt(n)).toBeLessThan(4);
  });
});
