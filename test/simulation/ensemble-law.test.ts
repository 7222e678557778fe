import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { uniform } from '../../core/random.ts';
import type { ScriptedModel } from '../helpers/chain-engine.ts';
import { drawFrom } from '../helpers/scripted-words.ts';
import { greedy, SimDeployment } from '../helpers/sim-deployment.ts';

interface Marginal {
  id: string;
  input: { weights: number[]; modelDistributions: number[][] };
  expected: { mixture: number[] };
}
const { vectors } = JSON.parse(readFileSync('test/fixtures/golden/routing-vectors.json', 'utf8')) as {
  vectors: Marginal[];
};
const vector = vectors.find(({ id }) => id === 'me-marginal');

/** Says a token of its distribution, whatever came before. */
function memoryless(model: number, distribution: readonly number[]): ScriptedModel {
  const logits = distribution.map(Math.log);
  return (tokens, { seed }) => ({
    token: drawFrom(logits, uniform({ seed, position: tokens.length, model, purpose: 'sample' })),
    entropy: 0,
  });
}

/** Upper 0.1 % points of χ² with 4 and 16 degrees of freedom. */
const CRITICAL = { 4: 18.467, 16: 39.252 } as const;
const NUM_SEEDS = 3000;
const CONCURRENCY = 256;

it('me-marginal: over many seeds the tokens follow the mixture, one by one and in pairs (χ², level 0.1 %)', async () => {
  const { weights = [], modelDistributions = [] } = vector?.input ?? {};
  const mixture = vector?.expected.mixture ?? [];
  const sim = await new SimDeployment({
    models: modelDistributions.map((distribution, i) => ({
      name: `m${i + 1}`,
      model: memoryless(i + 1, distribution),
      info: { maxNumSeqs: 256 },
      options: { maxNumBatchedTokens: 4096 },
    })),
    routers: [
      {
        id: 'ensemble',
        use: 'ensemble',
        options: { weights: Object.fromEntries(weights.map((weight, i) => [`m${i + 1}`, weight])) },
      },
    ],
  }).start();
  for (let seed = 0; seed < NUM_SEEDS; seed += 1) {
    await sim.clock.runUntil(() => sim.client.numOpen < CONCURRENCY, 600_000);
    const init = sim.init(1, { sampling: { ...greedy, temperature: 1, seed }, maxTokens: 2 });
    sim.client.submit(`req-${seed}`, [1], { ...init, limits: { maxTokens: 2, stopIds: [] } });
  }
  await sim.clock.runUntil(() => sim.client.numOpen === 0, 600_000);

  const first = mixture.map(() => 0);
  const second = mixture.map(() => 0);
  const pairs = mixture.flatMap(() => mixture.map(() => 0));
  const writers = weights.map(() => 0);
  for (const { ids, models } of sim.client.streams.values()) {
    const [a = NaN, b = NaN] = ids;
    first[a]! += 1;
    second[b]! += 1;
    pairs[a * mixture.length + b]! += 1;
    writers[(models[0] ?? NaN) - 1]! += 1;
  }
  const chi2 = (counts: readonly number[], law: readonly number[]): number =>
    counts.reduce((sum, count, i) => {
      const expected = NUM_SEEDS * (law[i] ?? NaN);
      return sum + (count - expected) ** 2 / expected;
    }, 0);
  expect(chi2(first, mixture)).toBeLessThan(CRITICAL[4]);
  expect(chi2(second, mixture)).toBeLessThan(CRITICAL[4]);
  // 24 degrees of freedom; merged to the 17 likeliest cells, since χ² needs a handful in each.
  const joint = mixture.flatMap((p) => mixture.map((q) => p * q));
  const order = [...joint.keys()].sort((i, j) => (joint[j] ?? 0) - (joint[i] ?? 0));
  const merge = (values: readonly number[]): number[] => {
    const kept = order.slice(0, 16).map((i) => values[i] ?? NaN);
    return [...kept, order.slice(16).reduce((sum, i) => sum + (values[i] ?? NaN), 0)];
  };
  expect(chi2(merge(pairs), merge(joint))).toBeLessThan(CRITICAL[16]);
  // The first position is drawn as well: a home that kept its first token would have written most of them.
  expect(writers.map((count) => count / NUM_SEEDS)[0]).toBeCloseTo(weights[0] ?? NaN, 1);
});
