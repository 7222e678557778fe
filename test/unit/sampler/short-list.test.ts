import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import type { SamplingParams } from '../../../core/request.ts';
import { sampleToken } from '../../../engine/sampler.ts';
import { inputOf, logSumExpOf, params, referenceDistribution } from './reference.ts';

/** Rows with ties (few distinct values), masked entries, wide and narrow spreads. */
const logit = fc.oneof(
  { weight: 6, arbitrary: fc.float({ min: -12, max: 12, noNaN: true }) },
  { weight: 3, arbitrary: fc.integer({ min: -3, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(-Infinity, 0, 40, -300) },
);
const row = fc
  .array(logit, { minLength: 1, maxLength: 60 })
  .filter((values) => values.some((value) => value > -Infinity))
  .map((values) => Float32Array.from(values));

const sampling: fc.Arbitrary<SamplingParams> = fc.record({
  temperature: fc.oneof(
    fc.constantFrom(1e-3, 1e-5, 0.5, 0.8, 1, 1.3, 2, 100),
    fc.double({ min: 1e-3, max: 2, noNaN: true }),
  ),
  topP: fc.oneof(
    fc.constant(1),
    fc.constantFrom(1e-9, 0.5, 0.9, 0.999999),
    fc.double({ min: 0.01, max: 1, noNaN: true }),
  ),
  topK: fc.oneof(fc.constant(-1), fc.integer({ min: 1, max: 70 })),
  minP: fc.oneof(
    fc.constant(0),
    fc.constantFrom(1e-6, 0.05, 0.3, 1),
    fc.double({ min: 0, max: 1, noNaN: true }),
  ),
  seed: fc.constant(0),
});
const draw = fc.oneof(
  fc.constantFrom(0, 1 - 2 ** -53, 0.5),
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
);
const shape = fc.record({
  k: fc.integer({ min: 0, max: 70 }),
  maskedTail: fc.integer({ min: 0, max: 5 }),
  tieOrder: fc.constantFrom<'ascending' | 'descending'>('ascending', 'descending'),
  isWidthKnown: fc.boolean(),
  lseNoise: fc.constantFrom(0, 3e-6, -3e-6),
});

describe('the short list', () => {
  it('never changes the token that the full row gives', () => {
    let decidedByList = 0;
    let runs = 0;
    fc.assert(
      fc.property(row, sampling, draw, shape, (logits, drawParams, u, { k, maskedTail, ...options }) => {
        const vocabLimit = Math.max(1, logits.length - maskedTail);
        fc.pre(logits.subarray(0, vocabLimit).some((value) => value > -Infinity));
        const short = inputOf(logits, k, { vocabLimit, ...options });
        const full = inputOf(logits, 0, { vocabLimit });
        const fromShort = sampleToken(short.input, drawParams, u);
        const fromFull = sampleToken(full.input, drawParams, u);
        expect(fromFull.usedFullRow).toBe(true);
        expect(fromShort.token).toBe(fromFull.token);
        expect(short.reads()).toBe(fromShort.usedFullRow ? 1 : 0);
        expect(fromShort.token).toBeLessThan(vocabLimit);
        expect(logits[fromShort.token]).toBeGreaterThan(-Infinity);
        runs += 1;
        if (!fromShort.usedFullRow) decidedByList += 1;
      }),
      { numRuns: 8000 },
    );
    // A list that never decides would pass the property too.
    expect(decidedByList / runs).toBeGreaterThan(0.4);
  });

  it('never changes it next to the boundaries between tokens either, where a wrong total would show', () => {
    const near = fc.constantFrom(0, 1e-15, 1e-10, 1e-7, 1e-6, 5e-6, 3e-5, 1e-3);
    fc.assert(
      fc.property(
        row,
        sampling,
        fc.record({
          k: fc.integer({ min: 1, max: 12 }),
          lseNoise: fc.constantFrom(0, 2e-5, -2e-5),
          isWidthKnown: fc.boolean(),
        }),
        fc.nat(20),
        fc.tuple(near, fc.boolean()),
        (logits, drawParams, shapeNear, rank, [distance, isBelow]) => {
          const distribution = referenceDistribution(logits, logits.length, drawParams);
          const boundary = distribution
            .slice(0, (rank % distribution.length) + 1)
            .reduce((sum, { p }) => sum + p, 0);
          const u = Math.min(1 - 2 ** -53, Math.max(0, boundary + (isBelow ? -distance : distance)));
          const { input } = inputOf(logits, shapeNear.k, shapeNear);
          input.logSumExpError = 2.1e-5;
          const expected = sampleToken(inputOf(logits, 0).input, drawParams, u).token;
          expect(sampleToken(input, drawParams, u).token).toBe(expected);
        },
      ),
      { numRuns: 8000 },
    );
  });

  it('agrees with a plain reference everywhere but within rounding of a boundary', () => {
    fc.assert(
      fc.property(row, sampling, draw, (logits, drawParams, u) => {
        const { token } = sampleToken(inputOf(logits, 8).input, drawParams, u);
        const margin = 1e-6;
        // The reference divides before it subtracts, so a filter may fall the other way within rounding.
        const near = [
          drawParams,
          { ...drawParams, topP: drawParams.topP * (1 + margin), minP: drawParams.minP * (1 - margin) },
          { ...drawParams, topP: drawParams.topP * (1 - margin), minP: drawParams.minP * (1 - margin) },
          { ...drawParams, minP: Math.min(1, drawParams.minP * (1 + margin)) },
        ];
        const isPossible = near.some((candidateParams) => {
          let before = 0;
          for (const { id, p } of referenceDistribution(logits, logits.length, candidateParams)) {
            if (id === token && u >= before - margin && u <= before + p + margin) return true;
            before += p;
          }
          return false;
        });
        expect(isPossible).toBe(true);
      }),
      { numRuns: 4000 },
    );
  });

  it('settles ties at its end by the full row when the draw falls among them', () => {
    const logits = Float32Array.from([0, 3, 0, 0, 0]);
    const list = inputOf(logits, 2, { tieOrder: 'descending' });
    expect([...list.input.topIds]).toEqual([1, 4]);
    // Mass of token 1: e³ / (e³ + 4) = 0.834; the next in canonical order is token 0, which is not listed.
    expect(sampleToken(list.input, params(), 0.5)).toEqual({ token: 1, usedFullRow: false });
    expect(sampleToken(list.input, params(), 0.85)).toEqual({ token: 0, usedFullRow: true });
    expect(sampleToken(list.input, params({ topK: 2 }), 0.99)).toEqual({ token: 0, usedFullRow: true });
  });

  it('is enough for top-k within it, and for a top-p mass or a draw within it', () => {
    const logits = Float32Array.from({ length: 1000 }, (_, id) => -id / 20);
    for (const drawParams of [
      params({ topK: 20, temperature: 2 }),
      params({ topP: 0.5, temperature: 0.7 }),
      params({ minP: 0.3, temperature: 1.5 }),
    ]) {
      const list = inputOf(logits, 64);
      for (let i = 0; i < 200; i += 1) {
        const u = uniform({ seed: 1, position: i, model: 1, purpose: 'sample' });
        expect(sampleToken(list.input, drawParams, u * 0.99).usedFullRow).toBe(false);
      }
    }
  });

  it('reads the row about as often as the draw really lies outside it, on a Zipf-shaped row', () => {
    const logits = Float32Array.from({ length: 20_000 }, (_, rank) => -1.6 * Math.log(rank + 1));
    const { input } = inputOf(logits, 64);
    input.logSumExpError = 1e-5;
    const lse = logSumExpOf(logits);
    const massOutside = 1 - [...input.topValues].reduce((sum, z) => sum + Math.exp(z - lse), 0);
    let reads = 0;
    for (let position = 0; position < 2000; position += 1) {
      const u = uniform({ seed: 2, position, model: 1, purpose: 'sample' });
      if (sampleToken(input, params(), u).usedFullRow) reads += 1;
    }
    expect(massOutside).toBeGreaterThan(0.03);
    expect(reads / 2000).toBeLessThan(massOutside + 0.02);
  });
});
