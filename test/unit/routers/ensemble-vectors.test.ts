import { describe, expect, it, vi } from 'vitest';
import type * as randomNumbers from '../../../core/random.ts';
import { ensemble } from '../../../routers/ensemble.ts';
import type { Router } from '../../../routers/router.ts';
import { goldenIds, goldenVectors } from './golden.ts';
import { contextOf, rowOf, viewOf } from './rows.ts';

// Real draws, unless a vector says what is drawn for a position.
const draws = vi.hoisted(() => ({ of: undefined as ((position: number) => number) | undefined }));
vi.mock('../../../core/random.ts', async (original) => {
  const real = await original<typeof randomNumbers>();
  return {
    ...real,
    uniform: (key: randomNumbers.DrawKey) => draws.of?.(key.position) ?? real.uniform(key),
  };
});

const names = ['small', 'medium', 'large'];
const weightsOf = (weights: readonly number[]) => ({
  weights: Object.fromEntries(names.map((name, i) => [name, weights[i]])),
});
const routerOf = (self: number, weights: readonly number[]): Router =>
  ensemble(contextOf(self, weightsOf(weights), names));
const covered = new Set(['me-marginal', 'me-trace-locs']); // through the subservers
const sampling = { ...rowOf().sampling, temperature: 1 };

describe('the ensemble, golden vectors', () => {
  type RouteInput = { selfId: number; weights: number[]; uniforms: number[] };
  for (const { id, input, expected } of goldenVectors<
    RouteInput,
    { chosenModel: number[]; destination: number[] }
  >('me', 'route')) {
    it(id, () => {
      draws.of = (position) => input.uniforms[position] ?? NaN;
      const router = routerOf(input.selfId, input.weights);
      // The token at position t is written; the draw is for the next one.
      const rows = input.uniforms.map((_, next) => rowOf({ position: next - 1, sampling }));
      expect(router.route(rows)).toEqual(expected.destination);
      const home = routerOf(1, input.weights);
      const first = input.uniforms.map((_, length) =>
        home.first?.(viewOf(Array<number>(length).fill(1)), sampling),
      );
      expect(first).toEqual(expected.chosenModel);
      draws.of = undefined;
    });
    covered.add(id);
  }

  type GreedyInput = { weights: number[]; modelDistributions: number[][] };
  type GreedyExpected = { argmaxOfMixture: number; argmaxPerModel: number[] };
  for (const { id, input, expected } of goldenVectors<GreedyInput, GreedyExpected>('me', 'invariant')) {
    it(`${id}: and the log warns of it, once`, () => {
      const warnings: string[] = [];
      const warn = (text: string): number => warnings.push(text);
      const home = ensemble({ ...contextOf(1, weightsOf(input.weights), names), warn });
      const argmax = (values: readonly number[]): number => values.indexOf(Math.max(...values));
      const written = new Set(
        Array.from({ length: 300 }, (_, seed) => {
          const model = home.first?.(viewOf([1]), { ...sampling, temperature: 0, seed }) ?? 0;
          return argmax(input.modelDistributions[model - 1] ?? []);
        }),
      );
      expect([...written].sort()).toEqual(expected.argmaxPerModel);
      expect(written.has(expected.argmaxOfMixture)).toBe(false);
      expect(warnings).toEqual([expect.stringMatching(/router ensemble: at temperature 0/)]);
    });
    covered.add(id);
  }

  type ThroughputInput = { P: number[][]; C: number[][] };
  for (const { id, input } of goldenVectors<ThroughputInput, unknown>('me', 'throughput')) {
    it(`${id}: where rows go has the law P, and every row commits`, () => {
      input.P.forEach((law, i) => {
        const router = routerOf(i + 1, law);
        expect(router.onHandoff).toBe('keep');
        const rows = Array.from({ length: 6000 }, (_, position) => rowOf({ position, sampling }));
        const destinations = Array.from(router.route(rows), (to) => (to === 0 ? i + 1 : to));
        const shares = names.map((_, j) => destinations.filter((to) => to === j + 1).length / rows.length);
        // Four standard deviations.
        shares.forEach((share, j) => expect(Math.abs(share - (law[j] ?? NaN))).toBeLessThan(4 * 0.0065));
      });
    });
    covered.add(id);
  }

  it('left out no vector', () => {
    expect([...covered].sort()).toEqual(goldenIds(['me']).sort());
  });
});

describe('the ensemble', () => {
  it('comes to the same writer at every model, whatever the batch and the request’s id', () => {
    const rows = Array.from({ length: 200 }, (_, i) =>
      rowOf({ position: i, sampling: { ...sampling, seed: i % 7 } }),
    );
    const writers = [1, 2, 3].map((self) =>
      Array.from(routerOf(self, [0.5, 0.3, 0.2]).route(rows), (to) => (to === 0 ? self : to)),
    );
    expect(writers[1]).toEqual(writers[0]);
    expect(writers[2]).toEqual(writers[0]);
    const other = routerOf(1, [0.5, 0.3, 0.2]);
    const alone = rows.map((row) => other.route([{ ...row, rid: 'other' }])[0] || 1);
    expect(alone).toEqual(writers[0]);
  });

  it('never draws a model without weight, and all weights equal by default', () => {
    const rows = Array.from({ length: 3000 }, (_, position) => rowOf({ position, sampling }));
    expect(new Set(Array.from(routerOf(1, [0, 1, 0]).route(rows)))).toEqual(new Set([2]));
    const equal = Array.from(ensemble(contextOf(1, {}, names)).route(rows));
    for (const to of [0, 2, 3])
      expect(equal.filter((one) => one === to).length / rows.length).toBeCloseTo(1 / 3, 1);
  });

  it.each([
    [{ small: 0.5, medium: 0.5 }, /"weights" of model large .*missing/],
    [{ small: 0.5, medium: 0.5, large: '0' }, /"weights" of model large .*"0"/],
    [{ small: 0.5, medium: 0.7, large: -0.2 }, /"weights" of model large .*-0.2/],
    [{ small: 0.5, medium: 0.3, large: 0.1 }, /"weights" must have the sum 1, not 0.9/],
    [{ small: 0.5, medium: 0.3, large: 0.2, huge: 0 }, /"weights" names "huge"/],
    [[0.5, 0.3, 0.2], /"weights" must give a probability for each model by its name/],
  ])('refuses the weights %j', (weights, message) => {
    expect(() => ensemble(contextOf(1, { weights }, names))).toThrow(message);
  });
});
