import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SignalNeeds } from '../../engine/engine.ts';
import { runReplay } from '../../deploy/replay/run-replay.ts';
import type { StepRecord } from '../../transport/messages.ts';
import { ScriptedAlgorithms } from '../helpers/scripted-algorithms.ts';
import { wordModel } from '../helpers/scripted-words.ts';
import { greedy, SimDeployment } from '../helpers/sim-deployment.ts';
import { readAll, recordLoad } from '../helpers/sim-recording.ts';

const dir = mkdtempSync(join(tmpdir(), 'tokenrail-replay-'));
const algorithms = new ScriptedAlgorithms();
afterAll(() => {
  algorithms.remove();
  rmSync(dir, { recursive: true, force: true });
});

const stepsIn = (file: string): StepRecord[] =>
  readAll(file).filter((message) => message.kind === 'step-record');

describe.each(algorithms.all.filter(({ name }) => name !== 'co-llm-token'))(
  '$name',
  ({ name, router, models }) => {
    it('the same router decides every recorded step as it was served', async () => {
      const id = `${name}-served`;
      const served = { ...router, id };
      const temperature = name === 'ensemble' ? 1 : 0;
      const { file, sim } = await recordLoad(dir, {
        router: served,
        models,
        numRequests: 24,
        maxTokens: 12,
        temperature,
      });
      const report = await runReplay({ in: file });
      expect(report).toMatchObject({
        router: id,
        requests: 24,
        unfinished: 0,
        incomplete: 0,
        missed: 0,
        isCut: false,
      });
      const [variant] = report.variants;
      expect(variant).toMatchObject({ failures: 0, beginnings: { same: 24 } });
      for (const { steps, same, served: counts, replayed, onlyServed, onlyReplayed } of variant?.models ??
        []) {
        expect(steps).toBeGreaterThan(24);
        expect([same, onlyServed, onlyReplayed]).toEqual([steps, 0, 0]);
        expect(replayed).toEqual(counts);
      }
      expect(variant?.models.reduce((sum, { both }) => sum + both, 0)).toBeGreaterThan(24);
      // Each kept row of the file is a token of an answer, written by the model that the client was told.
      const kept = stepsIn(file).filter(({ isKept }) => isKept);
      const told = [...sim.client.streams.values()].reduce((sum, { ids }) => sum + ids.length, 0);
      expect(kept.length).toBe(told);
      for (const { rid, numGenerated, token, model } of kept) {
        const stream = sim.client.streams.get(rid);
        expect([stream?.ids[numGenerated], stream?.models[numGenerated]]).toEqual([token, model]);
      }
    });
  },
);

describe('another threshold', () => {
  const models = [wordModel(1), wordModel(2)];
  const router = { id: 'r-stitch', use: 'r-stitch', options: { threshold: 0.75 } };
  const thresholds = [0, 0.5, 0.7, 0.75, 0.8, 0.9, 1];
  const recorded = recordLoad(dir, { router, models, numRequests: 24, maxTokens: 24, temperature: 0 });

  it('sends the rows above it, so fewer where it is higher', async () => {
    const { file } = await recorded;
    const report = await runReplay({ in: file, threshold: thresholds.join(',') });
    const atHome = stepsIn(file).filter(({ model }) => model === 1);
    const sent = report.variants.map(({ models: [home] }) => home?.replayed[2] ?? NaN);
    expect(sent).toEqual(thresholds.map((x) => atHome.filter((row) => row.normalizedEntropy > x).length));
    expect(sent[0]).toBeGreaterThan(sent[3] ?? NaN);
    expect(sent.at(-1)).toBe(0);
    for (const [
      i,
      {
        models: [home],
      },
    ] of report.variants.entries()) {
      const expected = atHome.filter(
        (row) => row.normalizedEntropy > (thresholds[i] ?? 0) && row.destination !== 0,
      );
      expect(home?.both).toBe(expected.length);
      const { both = 0, onlyServed = 0, onlyReplayed = 0, neither = 0, steps } = home ?? {};
      expect(both + onlyServed + onlyReplayed + neither).toBe(steps);
    }
    expect(report.perRequest.reduce((sum, { sentReplayed }) => sum + (sentReplayed[1] ?? 0), 0)).toBe(
      sent[1],
    );
  });

  it('is told how many of its handoffs the models truly differed at', async () => {
    const { file } = await recorded;
    const steps = stepsIn(file);
    const written = new Map(
      steps
        .filter(({ model, isKept }) => model === 2 && isKept)
        .map((row) => [`${row.rid} ${row.position}`, row.token]),
    );
    const pairs = steps
      .filter(
        ({ model, isKept, rid, position }) => model === 1 && !isKept && written.has(`${rid} ${position}`),
      )
      .map((row) => ({ ...row, differs: written.get(`${row.rid} ${row.position}`) !== row.token }));
    const { variants } = await runReplay({ in: file, threshold: '0.75,0.78,1' });
    for (const [i, threshold] of [0.75, 0.78, 1].entries()) {
      const sent = pairs.filter((row) => row.normalizedEntropy > threshold);
      const hits = sent.filter(({ differs }) => differs).length;
      const differing = pairs.filter(({ differs }) => differs).length;
      expect(variants[i]?.divergence).toEqual({
        known: pairs.length,
        differing,
        sent: sent.length,
        sentDiffering: hits,
        precision: sent.length === 0 ? null : hits / sent.length,
        recall: hits / differing,
      });
    }
    expect(pairs.length).toBeGreaterThan(20);
  });

  it('and routers of other kinds are asked as they would be served', async () => {
    const { file } = await recorded;
    const random = await runReplay({ in: file, router: 'random', option: ['p=1'] });
    expect(random.variants[0]?.models[0]?.replayed[0]).toBe(0);
    const large = await runReplay({ in: file, router: 'always-large' });
    expect(large.variants[0]?.beginnings).toMatchObject({
      served: [24, 0, 0],
      replayed: [0, 0, 24],
      same: 0,
    });

    const mine = join(dir, 'mine.ts');
    writeFileSync(
      mine,
      `export default ({ self, home, options }) => ({
        name: 'mine', needs: { topK: 2 }, onHandoff: 'discard',
        route: (rows) => rows.map(({ topValues, tokens, position }) => {
          if (topValues.length !== 2 || tokens.length !== position) throw new Error('not what was declared');
          if (options.breaks) throw new Error('broken on purpose');
          return self === home && topValues[0] - topValues[1] < options.gap ? 2 : home;
        }),
      });`,
    );
    const gap = await runReplay({ in: file, router: mine, option: ['gap=0.2'] });
    const close = stepsIn(file).filter(
      ({ model, topValues: [best = 0, second = 0] = [] }) => model === 1 && best - second < 0.2,
    );
    expect(gap.variants[0]).toMatchObject({ failures: 0 });
    expect(gap.variants[0]?.models[0]?.replayed[2]).toBe(close.length);
    const broken = await runReplay({ in: file, router: mine, option: ['breaks=true'] });
    expect(broken.variants[0]).toMatchObject({
      failures: broken.steps,
      failure: 'router mine: route threw: broken on purpose',
    });
  });

  it('what was not recorded is named', async () => {
    const { file } = await recorded;
    await expect(runReplay({ in: file, router: 'co-llm', option: ['deferToken=24'] })).rejects.toThrow(
      /router co-llm at model "m1" needs the whole row of logits/,
    );
    const head = algorithms.head('mlp');
    await expect(runReplay({ in: file, router: 'citer', head })).rejects.toThrow(
      /--models: .*"m1".*cannot be read/,
    );
    await expect(runReplay({ in: file, models: 'm1' })).rejects.toThrow(/^--models: expected NAME=VALUE/);
    const lost = join(dir, 'lost.ts');
    writeFileSync(
      lost,
      `export default () => ({
        name: 'lost', needs: { heads: [{ file: '/nowhere.safetensors', architecture: 'x' }] }, onHandoff: 'discard',
        route: (rows) => rows.map(() => 0),
      });`,
    );
    await expect(runReplay({ in: file, router: lost })).rejects.toThrow(
      /router lost at model "m1" needs the network \/nowhere\.safetensors, which cannot be read/,
    );
    await expect(runReplay({ in: file, router: 'r2d2' })).rejects.toThrow(/--router: .*"r2d2"/);
    await expect(runReplay({ in: file, threshold: '2' })).rejects.toThrow(/r-stitch.*threshold/);
    await expect(runReplay({ in: file, threshold: 'x' })).rejects.toThrow(/--threshold/);
    await expect(runReplay({ in: file, models: 'm9=/x' })).rejects.toThrow(/--models: "m9"/);
  });
});

it('without recording nothing more is asked of the engine, and nothing is said', async () => {
  const needs: SignalNeeds[] = [];
  const run = async (record: boolean): Promise<number> => {
    let numRecords = 0;
    const sim = await new SimDeployment({
      models: [wordModel(1), wordModel(2)].map((model, i) => ({ name: `m${i + 1}`, model })),
      ...(record ? { record: { topK: 5, hidden: true, headDigests: new Map() } } : {}),
    }).start();
    sim.network.connect('ear').subscribe(sim.subjects.allRecords(), () => (numRecords += 1));
    for (const { engine } of sim.replicas) {
      const step = engine.step.bind(engine);
      engine.step = (batch, onDone) => {
        needs.push(batch.needs);
        step(batch, onDone);
      };
    }
    sim.client.submit('req-1', [5, 6, 7], sim.init(3, { sampling: greedy, maxTokens: 9 }));
    await sim.clock.runUntil(() => sim.client.numOpen === 0, 60_000);
    return numRecords;
  };
  expect(await run(false)).toBe(0);
  expect(needs.length).toBeGreaterThan(9);
  expect(needs.every((need) => Object.keys(need).length === 0)).toBe(true);
  needs.length = 0;
  expect(await run(true)).toBeGreaterThan(9);
  expect(needs.every(({ topK, hidden }) => topK === 5 && hidden === true)).toBe(true);
});
