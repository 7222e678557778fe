import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ask, openStream } from './support/ask.ts';
import { Cli, endAll, startServer } from './support/cli.ts';
import { descendants, eventually, untilGone } from './support/processes.ts';

const LONG = { ignore_eos: true, max_tokens: 400 };

let models: string;
beforeAll(() => {
  models = mkdtempSync(join(tmpdir(), 'tokenrail-models-'));
  cpSync('models/small', join(models, 'small'), { recursive: true });
  cpSync('models/large', join(models, 'large'), { recursive: true });
});
afterEach(endAll);
afterAll(() => rmSync(models, { recursive: true }));

const modelFlags = (): string[] => [
  '--models',
  `small=${join(models, 'small')},large=${join(models, 'large')}`,
];

const childNamed = (cli: Cli, name: string): number | undefined =>
  descendants(cli.pid).find(({ command }) => command.startsWith(`tokenrail ${name}`))?.pid;

interface Readiness {
  status: string;
  models: Record<string, { status: string; reasons: string[] }>;
}

const readinessOf = async (url: string): Promise<Readiness> =>
  (await (await fetch(`${url}/health/ready`)).json()) as Readiness;

const untilReady = (url: string): Promise<true> =>
  eventually(async () => ((await readinessOf(url)).status === 'ready' ? true : undefined));

test('a subserver that is killed is started again; a supervisor that is killed leaves nothing behind', async () => {
  const { cli, url } = await startServer();
  const before = childNamed(cli, 'large') ?? 0;
  process.kill(before, 'SIGKILL');
  await cli.find('stderr', /large ended: signal SIGKILL; starts again in 1\.0 s/);
  const after = await eventually(() => childNamed(cli, 'large'));
  expect(after).not.toBe(before);
  // The last heartbeat of the killed one counts for a while: ready alone does not say that the new one serves.
  await cli.find('stderr', /\(large\): serving[^]*large ended[^]*\(large\): serving/);
  expect((await ask(url)).usage.tokenrail.tokens_by_model['large']).toBeGreaterThan(0);

  const pids = descendants(cli.pid).map(({ pid }) => pid);
  expect(pids.length).toBeGreaterThanOrEqual(4);
  cli.kill('SIGKILL');
  await untilGone(pids);
});

test('a gateway that is killed comes back on its port; a subserver that hangs, or drains by itself, is noticed', async () => {
  const { cli, url } = await startServer();
  process.kill(childNamed(cli, 'gateway') ?? 0, 'SIGKILL');
  await cli.find('stderr', /gateway ended: signal SIGKILL; starts again in 1\.0 s/);
  await eventually(() => untilReady(url).catch(() => undefined));

  const large = childNamed(cli, 'large') ?? 0;
  process.kill(large, 'SIGSTOP');
  const { models } = await eventually(async () => {
    const readiness = await readinessOf(url);
    return readiness.status === 'ready' ? undefined : readiness;
  });
  expect(models).toMatchObject({ small: { status: 'ready' }, large: { status: 'unready' } });
  expect(models['large']?.reasons).not.toEqual([]);
  process.kill(large, 'SIGCONT');
  await untilReady(url);

  process.kill(large, 'SIGTERM');
  await untilGone([large]);
  await cli.find('stderr', /large ended: exit code 0[^]*\(large\): serving/);
  await untilReady(url);
  expect((await ask(url)).choices[0]?.finish_reason).toBe('stop');
  cli.kill('SIGTERM');
  expect(await cli.exited).toEqual({ code: 0, signal: null });
});

test('SIGTERM while the models load ends everything with exit code 0', async () => {
  const cli = new Cli(['serve', '--port', '0']);
  await cli.find('stderr', /gateway listens/);
  const pids = descendants(cli.pid).map(({ pid }) => pid);
  cli.kill('SIGTERM');
  expect(await cli.exited).toEqual({ code: 0, signal: null });
  await untilGone(pids);
});

test('a broken checkpoint: growing delay, a clear message, not ready; mended, it serves', async () => {
  const file = join(models, 'large', 'model.safetensors');
  const whole = readFileSync(file);
  truncateSync(file, whole.length - 1);
  const cli = new Cli(['serve', '--port', '0', '--advanced-restart-delay-ms', '200', ...modelFlags()]);
  const [, url = ''] = await cli.find('stderr', /gateway listens.*?(http:\/\/127\.0\.0\.1:\d+)/);
  await cli.find('stderr', /large ended: checkpoint_invalid: .*model\.safetensors.*; starts again in 0\.2 s/);
  await cli.find('stderr', /large ended: .*; starts again in 0\.4 s/);
  await cli.find('stderr', /large ended: .*; starts again in 0\.8 s/);
  const readiness = await readinessOf(url);
  expect(readiness).toMatchObject({ status: 'unready', models: { small: {}, large: { status: 'unready' } } });
  expect(cli.stdout).toBe('');
  writeFileSync(file, whole);
  await cli.find('stdout', /is ready/);
  expect((await ask(url)).usage.tokenrail.tokens_by_model['large']).toBeGreaterThan(0);

  // The same server: a second signal stops at once, though a long answer is still being written.
  const stream = await openStream(url, LONG);
  await eventually(() => (stream.text === '' ? undefined : true));
  const pids = descendants(cli.pid).map(({ pid }) => pid);
  cli.kill('SIGTERM');
  await cli.find('stderr', /finishing what runs/);
  cli.kill('SIGTERM');
  expect(await cli.exited).toEqual({ code: 0, signal: null });
  await untilGone(pids);
  await stream.over;
  expect(stream.finishReason).toBeUndefined();
});

test('answers that outlast --shutdown-timeout end with an error, and the exit code is still 0', async () => {
  const { cli, url } = await startServer(['--shutdown-timeout', '0.1', '--max-num-seqs', '1']);
  const streams = await Promise.all(Array.from({ length: 6 }, () => openStream(url, LONG)));
  await eventually(() => (streams.some(({ text }) => text !== '') ? true : undefined));
  cli.kill('SIGINT');
  await Promise.all(streams.map(({ over }) => over));
  expect(await cli.exited).toEqual({ code: 0, signal: null });
  const cut = streams.filter(({ error }) => error !== undefined);
  expect(cut.length).toBeGreaterThan(0);
  for (const stream of cut) {
    expect(stream.error?.code).toBe('shutting_down');
    expect(stream.isDone).toBe(true);
  }
  expect(
    streams.filter(({ error, finishReason }) => error === undefined && finishReason !== 'length'),
  ).toEqual([]);
});

test('a broker that dies takes the deployment with it, with exit code 1', async () => {
  const { cli } = await startServer();
  process.kill(childNamed(cli, 'broker') ?? 0, 'SIGKILL');
  expect((await cli.exited).code).toBe(1);
  expect(cli.stderr).toContain('the broker ended: signal SIGKILL');
  expect(descendants(cli.pid)).toEqual([]);
});
