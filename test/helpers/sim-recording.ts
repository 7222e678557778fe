import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Recorder, type RecordMessage } from '../../actors/recorder/index.ts';
import type { RecordOptions } from '../../actors/subserver/index.ts';
import type { RouterEntry } from '../../core/deployment.ts';
import { fileDigest } from '../../deploy/file-digest.ts';
import type { RecordingHeader } from '../../deploy/recording/header.ts';
import { RecordingReader } from '../../deploy/recording/recording-reader.ts';
import { RecordingWriter } from '../../deploy/recording/recording-writer.ts';
import type { ScriptedModel } from './chain-engine.ts';
import { greedy, SimDeployment } from './sim-deployment.ts';

export interface RecordedLoad {
  router: RouterEntry;
  models: ScriptedModel[];
  numRequests: number;
  maxTokens: number;
  temperature: number;
}

/** What a recording keeps of scripted models, which have no hidden vectors. */
export const scriptedRecord = (router: RouterEntry): RecordOptions => {
  const { head } = router.options;
  return {
    topK: 24,
    hidden: false,
    headDigests: new Map(typeof head === 'string' ? [[head, fileDigest(head)]] : []),
  };
};

export const headerFor = (names: readonly string[], router: RouterEntry): RecordingHeader => ({
  format: 'tokenrail-recording',
  version: 1,
  recordedAt: '2000-01-01T00:00:00.000Z',
  configHash: 'test',
  home: 1,
  models: names.map((name, i) => ({
    id: i + 1,
    name,
    path: '/nowhere',
    tokenizer: 'none',
    engine: 'onnx',
    loadFormat: 'auto',
  })),
  routers: [{ id: router.id, use: router.use, options: { ...router.options } }],
  defaultRouter: router.id,
  maskIdsFrom: 24,
  routersBaseDir: process.cwd(),
});

/** Serves a load in virtual time with a recorder that listens, and writes the file. */
export async function recordLoad(
  dir: string,
  load: RecordedLoad,
): Promise<{ file: string; sim: SimDeployment }> {
  const { router, models, numRequests, maxTokens, temperature } = load;
  const sim = await new SimDeployment({
    models: models.map((model, i) => ({
      name: `m${i + 1}`,
      model,
      stepMs: (rows) => 2 + 4 * i + 0.1 * rows,
    })),
    routers: [router],
    record: scriptedRecord(router),
  }).start();
  const file = join(dir, `${router.id}-${temperature}.rec`);
  rmSync(file, { force: true });
  const writer = new RecordingWriter(
    file,
    headerFor(
      models.map((_, i) => `m${i + 1}`),
      router,
    ),
  );
  const recorder = new Recorder(
    { subject: sim.subjects.allRecords(), configHash: 'test' },
    {
      bus: sim.network.connect('recorder'),
      clock: sim.clock,
      write: (messages) => writer.write(messages),
    },
  );
  void recorder.start();
  for (let i = 0; i < numRequests; i += 1) {
    const prompt = Array.from({ length: 1 + ((i * 7) % 20) }, (_, j) => 1 + ((i * 31 + j * 17) % 23));
    const sampling = { ...greedy, temperature, seed: i };
    sim.client.submit(`req-${i}`, prompt, sim.init(prompt.length, { sampling, maxTokens }));
  }
  await sim.clock.runUntil(() => recorder.counts.ended === numRequests && sim.client.numOpen === 0, 600_000);
  recorder.stop();
  writer.close({
    requests: numRequests,
    ended: numRequests,
    steps: recorder.counts.steps,
    missed: recorder.counts.missed,
  });
  return { file, sim };
}

export function readAll(file: string): RecordMessage[] {
  const reader = new RecordingReader(file);
  const all: RecordMessage[] = [];
  for (let next = reader.next(); next !== undefined; next = reader.next()) all.push(...next);
  reader.close();
  return all;
}
