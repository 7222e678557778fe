import { describe, expect, it } from 'vitest';
import { uniform } from '../../core/random.ts';
import type { RouterFactory } from '../../routers/router.ts';
import type { NetworkOptions } from '../../simulation/index.ts';
import { hashTokens, type ScriptedModel } from '../helpers/chain-engine.ts';
import { sequentialAnswer, type OracleModel } from '../helpers/sequential-oracle.ts';
import { greedy, SimDeployment } from '../helpers/sim-deployment.ts';

/** Home → any guest; a guest passes on to any other model without a token, as often as `pDoubt` says. */
const cascade =
  (pDoubt: number): RouterFactory =>
  ({ self, home, models }) => ({
    name: 'cascade',
    needs: {},
    onHandoff: self === models.length ? 'keep' : 'discard',
    passesOn: true,
    route: (rows) =>
      rows.map(({ sampling, position }) => {
        const draw = (purpose: 'route' | 'admission'): number =>
          uniform({ seed: sampling.seed, position, model: self, purpose });
        if (draw('admission') >= pDoubt) return self === home ? 0 : home;
        return 1 + Math.floor(draw('route') * models.length);
      }),
  });

const scripted = (salt: number): ScriptedModel => {
  return (tokens) => ({ token: 1 + (hashTokens(tokens, salt) % 900), entropy: 0 });
};

async function run(pDoubt: number, network: NetworkOptions): Promise<SimDeployment> {
  const models = [1, 2, 3].map((id) => ({
    name: `m${id}`,
    model: scripted(id),
    stepMs: () => 2 * id,
    options: { resendMs: 40 },
  }));
  const sim = await new SimDeployment({
    models,
    network,
    routers: [{ id: 'cascade', use: 'cascade', options: {} }],
    factories: { cascade: cascade(pDoubt) },
  }).start();
  const prompts = Array.from({ length: 12 }, (_, i) => [1 + i, 2, 3]);
  prompts.forEach((prompt, i) => {
    sim.client.submit(`req-${i}`, prompt, sim.init(3, { sampling: { ...greedy, seed: i }, maxTokens: 24 }));
  });
  await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
  const oracle = new Map<number, OracleModel>();
  models.forEach(({ model }, i) => {
    const router = sim.routers.get(i + 1)?.get('cascade');
    if (router) oracle.set(i + 1, { model, router });
  });
  prompts.forEach((prompt, i) => {
    const limits = { maxTokens: 24, stopIds: [0] };
    const expected = sequentialAnswer(oracle, 1, prompt, { ...greedy, seed: i }, limits);
    const stream = sim.client.streams.get(`req-${i}`);
    expect(stream?.finish?.error).toBeUndefined();
    expect([stream?.ids, stream?.models]).toEqual([expected.ids, expected.models]);
  });
  return sim;
}

const handoffsOf = (sim: SimDeployment): number =>
  sim.replicas.reduce((sum, { subserver }) => sum + subserver.counters.get('handoffs_sent'), 0);

describe('a cascade passes requests on without a token', () => {
  it('writes what the sequential loop writes', async () => {
    const sim = await run(0.5, { hopMs: 0.2 });
    const commits = sim.replicas.map(({ subserver }) => subserver.counters.get('generation_tokens'));
    const received = sim.replicas.map(({ subserver }) => subserver.counters.get('handoffs_received'));
    expect(Math.min(...commits)).toBeGreaterThan(0);
    expect(received[1]).toBeGreaterThan(commits[1] ?? 0); // visits without a token
  });

  it('moves on when every model doubts at every token', async () => {
    const sim = await run(1, { hopMs: 0 });
    expect(handoffsOf(sim)).toBeLessThanOrEqual(12 * 24 * 4);
  });

  for (const seed of [1, 2, 3, 4]) {
    it(`over a network that loses, doubles and reorders (seed ${seed})`, async () => {
      await run(0.7, {
        hopMs: 0.3,
        jitterMs: 1,
        lossProbability: 0.05,
        duplicateProbability: 0.1,
        reorderProbability: 0.1,
        reorderMs: 20,
        seed,
      });
    });
  }

  it('goes on without a model that is gone: the home writes the token itself', async () => {
    const sim = await new SimDeployment({
      models: [1, 2, 3].map((id) => ({ name: `m${id}`, model: scripted(id), options: { resendMs: 20 } })),
      routers: [{ id: 'up', use: 'up', options: {} }],
      factories: {
        up: ({ self, models: all }) => ({
          name: 'up',
          needs: {},
          onHandoff: 'discard',
          passesOn: true,
          route: (rows) => rows.map(() => (self < all.length ? self + 1 : 1)),
        }),
      },
    }).start();
    await sim.replicas.find(({ model }) => model === 3)?.bus.close();
    const stream = sim.client.submit('req-1', [1, 2, 3], sim.init(3, { maxTokens: 6 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    expect(stream.finish?.reason).toBe('length');
    expect(stream.models).toContain(1);
  });
});
