import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { wordModel } from '../helpers/scripted-words.ts';
import { sequentialAnswer, type OracleModel } from '../helpers/sequential-oracle.ts';
import { greedy, SimDeployment } from '../helpers/sim-deployment.ts';

const page = readFileSync(new URL('../../docs/writing-a-router.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/```ts\n([^]*?)```/g)].map(([, code = '']) => code);
const MODELS = [1, 2].map((model) => wordModel(model));
const PROMPT = [1, 2, 3];

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tokenrail-own-router-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function written(name: string, code: string | undefined): string {
  if (code === undefined) throw new Error(`the page shows no ${name}`);
  const path = join(dir, name);
  writeFileSync(path, code);
  return path;
}

/** Real subservers with a router from a file beside a sound one. */
const deploymentWith = (use: string, options: Record<string, unknown> = {}): Promise<SimDeployment> =>
  new SimDeployment({
    models: MODELS.map((model, i) => ({ name: `m${i + 1}`, model })),
    routers: [
      { id: 'own', use, options },
      { id: 'sound', use: 'r-stitch', options: { threshold: 0.75 } },
    ],
  }).start();

function expectedOf(sim: SimDeployment, router: string, maxTokens: number) {
  const oracle = new Map<number, OracleModel>();
  MODELS.forEach((model, i) => {
    const made = sim.routers.get(i + 1)?.get(router);
    if (made) oracle.set(i + 1, { model, router: made });
  });
  return sequentialAnswer(oracle, 1, PROMPT, greedy, { maxTokens, stopIds: [0] });
}

it.each([
  ['close-call.ts', 'function closeCall', { minGap: 0.2 }],
  ['long-prompts.ts', 'function longPrompts', {}],
])('%s of the page runs as it stands there', async (name, text, options) => {
  const code = blocks.find((block) => block.includes(text));
  const sim = await deploymentWith(written(name, code), options);
  for (let i = 0; i < 8; i += 1) sim.client.submit(`req-${i}`, PROMPT, sim.init(PROMPT.length));
  await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
  const expected = expectedOf(sim, 'own', 20);
  expect(expected.ids.length).toBeGreaterThan(5);
  if (name === 'close-call.ts') expect(new Set(expected.models).size).toBe(2);
  for (const { ids, models, finish } of sim.client.streams.values()) {
    expect(finish?.error).toBeUndefined();
    expect([ids, models]).toEqual([expected.ids, expected.models]);
  }
});

it.each([
  ['throws', '() => { throw new Error("no such neighbour"); }', /route threw: no such neighbour/],
  ['is not a number', '(rows) => rows.map(() => NaN)', /destination NaN is not an integer/],
  ['names no model', '(rows) => rows.map(() => 3)', /destination 3 is no model/],
  ['is negative', '(rows) => rows.map(() => -1)', /destination -1 is no model/],
  ['is a fraction', '(rows) => rows.map(() => 1.5)', /destination 1\.5 is not an integer/],
  ['is too short', '() => []', /route returned 0 destinations for 1 rows/],
  ['is too long', '(rows) => [...rows.map(() => 0), 0]', /route returned 2 destinations for 1 rows/],
  ['is a promise', 'async (rows) => rows.map(() => 0)', /promise|synchronous/i],
  ['is nothing', '() => {}', /route returned/],
])('a router whose route %s fails its own requests and no others', async (name, route, problem) => {
  const code = `export default () => ({ name: 'broken', needs: {}, onHandoff: 'keep', route: ${route} });`;
  const sim = await deploymentWith(written(`${name.replaceAll(' ', '-')}.mjs`, code));
  for (const router of ['own', 'sound'])
    for (const rid of ['a', 'b'])
      sim.client.submit(`${router}-${rid}`, PROMPT, sim.init(PROMPT.length, { router, maxTokens: 12 }));
  await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
  await sim.clock.runFor(10);
  const sound = expectedOf(sim, 'sound', 12);
  for (const rid of ['a', 'b']) {
    expect(sim.client.streams.get(`sound-${rid}`)).toMatchObject({ ids: sound.ids, models: sound.models });
    const error = sim.client.streams.get(`own-${rid}`)?.finish?.error;
    expect(error?.code).toBe('router_failed');
    expect(error?.message).toContain('router broken');
    expect(error?.message).toMatch(problem);
  }
  expect(sim.numSequencesHeld).toBe(0);
});
