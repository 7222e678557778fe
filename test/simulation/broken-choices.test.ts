import { afterAll, expect, it } from 'vitest';
import type { RouterFactory } from '../../routers/router.ts';
import { coLlm } from '../../routers/co-llm.ts';
import { r2r } from '../../routers/r2r.ts';
import { ScriptedAlgorithms } from '../helpers/scripted-algorithms.ts';
import { wordModel } from '../helpers/scripted-words.ts';
import { SimDeployment } from '../helpers/sim-deployment.ts';

const algorithms = new ScriptedAlgorithms();
afterAll(() => algorithms.remove());

/** Serves one request by a sound router and one by the broken one; returns how the latter ended. */
async function errorOf(
  use: string,
  factory: RouterFactory,
  options: Record<string, unknown>,
): Promise<string> {
  const sim = await new SimDeployment({
    models: [1, 2].map((model) => ({ name: `m${model}`, model: wordModel(model) })),
    routers: [
      { id: 'sound', use: 'always-small', options: {} },
      { id: 'broken', use, options },
    ],
    factories: { broken: factory },
  }).start();
  for (const router of ['sound', 'broken'])
    sim.client.submit(router, [1, 2, 3], sim.init(3, { router, maxTokens: 12 }));
  await sim.clock.runUntil(() => sim.client.numOpen === 0, 10_000);
  await sim.clock.runFor(10);
  const sound = sim.client.streams.get('sound');
  expect(sound?.finish?.error).toBeUndefined();
  expect(sound?.ids.length).toBeGreaterThan(0);
  expect(sim.numSequencesHeld).toBe(0);
  const { error } = sim.client.streams.get('broken')?.finish ?? {};
  expect(error?.code).toBe('router_failed');
  return error?.message ?? '';
}

const broken =
  (choose: () => unknown, isOnlyAtGuest = false): RouterFactory =>
  ({ self, home }) => ({
    name: 'chooser',
    needs: {},
    onHandoff: self === home ? 'discard' : 'keep',
    route: (rows) => rows.map(() => (self === home ? 2 : 1)),
    ...(isOnlyAtGuest && self === home ? {} : { choose: choose as () => number }),
  });

it.each([
  ['NaN', () => NaN, 'returned NaN, no token (0 to 999)'],
  ['no number', () => 'seven', 'returned'],
  ['a token beyond the vocabulary', () => 1000, 'returned 1000'],
  ['a promise', () => Promise.resolve(3), 'returned'],
])('a choice that is %s fails its request only', async (_, choose, problem) => {
  for (const isOnlyAtGuest of [false, true]) {
    const message = await errorOf('chooser', broken(choose, isOnlyAtGuest), {});
    expect(message).toContain('router chooser: choose');
    expect(message).toContain(problem);
  }
});

it('a choice that throws fails its request only', async () => {
  const thrower = (): never => {
    throw new Error('no idea');
  };
  expect(await errorOf('chooser', broken(thrower, true), {})).toMatch(/router chooser.*no idea/);
});

it('an engine that gives no scores fails the request, with the router and the head named', async () => {
  const head = algorithms.head('classifier');
  const unscored: RouterFactory = (context) => ({ ...r2r(context), needs: {} });
  const message = await errorOf('r2r', unscored, { head });
  expect(message).toContain('router r2r');
  expect(message).toContain(`no score of ${head}`);
});

it('a deferral token that the model does not have fails the request', async () => {
  expect(await errorOf('co-llm', coLlm, { deferToken: 24 })).toMatch(/router co-llm.*no logit 24/);
});
