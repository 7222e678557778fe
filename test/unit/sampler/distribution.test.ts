import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import type { SamplingParams } from '../../../core/request.ts';
import { sampleToken } from '../../../engine/sampler.ts';
import { inputOf, params, referenceDistribution } from './reference.ts';

const DRAWS = 20_000;
const LOGITS = Float32Array.from([2, -Infinity, 1.5, 1.5, 0, -1, 0.7, -2, -2, 3, 9]);
/** The last id is padding with the largest logit of all: it must never show. */
const VOCAB_LIMIT = 10;

/** Upper 0.1 % points of the χ² distribution by degrees of freedom. */
const CRITICAL = [0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88];

describe('the distribution of draws (χ², 20,000 counter-based draws, 0.1 % level)', () => {
  const cases: [string, Partial<SamplingParams>, number][] = [
    ['temperature 1', {}, 4],
    ['temperature 0.5', { temperature: 0.5 }, 4],
    ['temperature 2', { temperature: 2 }, 11],
    ['top-k 3', { topK: 3 }, 4],
    ['top-p 0.8', { topP: 0.8 }, 4],
    ['min-p 0.1', { minP: 0.1 }, 8],
    ['all of them', { temperature: 1.4, topK: 6, topP: 0.85, minP: 0.05 }, 8],
    ['full row only', { temperature: 1.4, topP: 0.95 }, 0],
  ];
  for (const [name, change, k] of cases) {
    it(name, () => {
      const drawParams = params(change);
      const expected = referenceDistribution(LOGITS, VOCAB_LIMIT, drawParams);
      const { input } = inputOf(LOGITS, k, { vocabLimit: VOCAB_LIMIT });
      const counts = new Map<number, number>();
      for (let position = 0; position < DRAWS; position += 1) {
        const u = uniform({ seed: 1234, position, model: 2, purpose: 'sample' });
        const { token } = sampleToken(input, drawParams, u);
        counts.set(token, (counts.get(token) ?? 0) + 1);
      }
      const allowed = new Set(expected.map(({ id }) => id));
      expect([...counts.keys()].filter((id) => !allowed.has(id))).toEqual([]);
      let chiSquare = 0;
      for (const { id, p } of expected) chiSquare += ((counts.get(id) ?? 0) - DRAWS * p) ** 2 / (DRAWS * p);
      expect(expected.length).toBeGreaterThan(1);
      expect(chiSquare).toBeLessThan(CRITICAL[expected.length - 1] ?? 0);
    });
  }
});
