import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { chat, mapConcurrently } from '../../bench/lib/chat-client.ts';
import { loadProblems } from '../../bench/lib/problems.ts';
import type { ReplayReport } from '../../deploy/replay/report.ts';
import { ARCHITECTURE, classifierTensors, linearHeadTensors, writeHeadFile } from '../helpers/head-files.ts';
import { RandomHeads } from '../helpers/random-heads.ts';
import { readAll } from '../helpers/sim-recording.ts';
import { Cli, emptyPath, endAll, runCli, startServer } from './support/cli.ts';

const HIDDEN = 96;
const dir = mkdtempSync(join(tmpdir(), 'tokenrail-record-'));
afterAll(async () => {
  await endAll();
  rmSync(dir, { recursive: true, force: true });
});

const problems = loadProblems('test', 6);
const ask = async (url: string, router?: string): Promise<void> => {
  await mapConcurrently(problems, problems.length, ({ question }, seed) =>
    chat(url, question, {
      temperature: 0,
      seed,
      max_tokens: 32,
      ...(router === undefined ? {} : { router }),
    }),
  );
};

const replayed = async (...args: string[]): Promise<ReplayReport> => {
  const { code, stdout, stderr } = await runCli(['replay', '--json', ...args]);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as ReplayReport;
};

it('a deployment is recorded, and replayed as it was served and as others would have routed', async () => {
  const out = join(dir, 'a.rec');
  const { cli, url } = await startServer(['--record', 'on'], { env: { PATH: emptyPath } });
  const nats = /nats:\/\/[\d.]+:\d+/.exec(cli.stdout)?.[0] ?? '';
  const recorder = new Cli([
    'record',
    '--nats',
    nats,
    '--out',
    out,
    '--requests',
    String(2 * problems.length),
  ]);
  await recorder.find('stdout', /recording to .*a\.rec; token ids .* are kept/);
  await ask(url);
  await ask(url, 'random');
  expect(await recorder.exited).toEqual({ code: 0, signal: null });
  expect(recorder.stdout).toMatch(/a\.rec: 12 requests \(12 ended\), \d+ steps, [\d.]+ .?B/);
  expect(recorder.stdout).not.toContain('missed');

  // Another one, ended by hand; nothing is asked meanwhile.
  const second = new Cli(['record', '--nats', nats, '--out', join(dir, 'b.rec')]);
  await second.find('stdout', /recording to/);
  second.kill('SIGINT');
  expect((await second.exited).code).toBe(0);
  expect(second.stdout).toMatch(/0 requests .*\n +nothing was heard: is the deployment .* "record: on"/);
  expect((await runCli(['record', '--nats', nats, '--out', out])).stderr).toMatch(
    /config_invalid: --out: EEXIST/,
  );
  cli.kill('SIGTERM');
  await cli.exited;

  const row = readAll(out).find((message) => message.kind === 'step-record');
  expect([row?.hidden?.length, row?.topValues?.length]).toEqual([HIDDEN, 100]);

  // Without anything that runs: the file is enough. Each of the two routers served half of the requests.
  const served = await replayed('--in', out);
  expect(served).toMatchObject({ requests: 12, unfinished: 0, incomplete: 0, missed: 0, isCut: false });
  expect(Object.keys(served.servedBy).sort()).toEqual(['r-stitch', 'random']);
  const random = await replayed('--in', out, '--router', 'random');
  for (const report of [served, random]) {
    const [home] = report.variants[0]?.models ?? [];
    expect(home?.steps).toBeGreaterThan(200);
    const exact = report.perRequest.filter(({ steps, same }) => same[0] === steps);
    expect(exact.length).toBeGreaterThanOrEqual(problems.length);
  }

  const seeds = new RandomHeads(4);
  const r2r = writeHeadFile(
    join(dir, 'r2r.safetensors'),
    classifierTensors(seeds.classifier(HIDDEN, 100, [32, 32])),
    { architecture: ARCHITECTURE.classifier },
  );
  const thresholds = ['0.2', '0.4', '0.6', '0.8'];
  const swept = await replayed(
    '--in',
    out,
    '--router',
    'r2r',
    '--head',
    r2r,
    '--threshold',
    thresholds.join(','),
  );
  const sent = swept.variants.map(({ models: [home] }) => home?.replayed[2] ?? NaN);
  expect(sent).toEqual([...sent].sort((a, b) => b - a));
  expect(swept.variants.map(({ label }) => label)).toEqual(thresholds);

  const page = await runCli([
    'replay',
    '--in',
    out,
    '--router',
    'examples/my-router.ts',
    '--option',
    'minGap=1',
  ]);
  expect(page.code).toBe(0);
  expect(page.stdout).toMatch(/^small, the home: \d+ steps$/m);
  expect(page.stdout).toMatch(/Decisions are on the recorded trajectory/);

  const linear = writeHeadFile(join(dir, 'linear.safetensors'), linearHeadTensors([1, 2, 3], 0), {
    architecture: ARCHITECTURE.linear,
  });
  const wrong = await runCli(['replay', '--in', out, '--router', 'co-llm', '--head', linear]);
  expect(wrong.stderr).toMatch(/checkpoint_invalid: .*linear\.safetensors: made for hidden size 3/);
  expect(wrong.code).toBe(1);
}, 180_000);
