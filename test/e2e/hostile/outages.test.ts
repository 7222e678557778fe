import { afterAll, beforeAll, expect, test } from 'vitest';
import { hasNatsServer, startTestBroker, type TestBroker } from '../../helpers/nats-server.ts';
import { ask, openStream } from '../support/ask.ts';
import { endAll, startServer, type Cli } from '../support/cli.ts';
import { descendants, eventually } from '../support/processes.ts';

const LONG = { temperature: 0, ignore_eos: true, max_tokens: 400 };

let broker: TestBroker;
let cli: Cli;
let url: string;
let expected: string;

// A broker that is not the deployment's own: its end must not be the deployment's.
beforeAll(async () => {
  broker = await startTestBroker(hasNatsServer() ? 'nats-server' : 'embedded');
  ({ cli, url } = await startServer(['--nats', broker.url]));
  expected = (await ask(url, LONG)).choices[0]?.message.content ?? '';
});
afterAll(async () => {
  await endAll();
  await broker?.stop();
});

const untilStatus = (status: number): Promise<true> =>
  eventually(async () => ((await fetch(`${url}/health/ready`)).status === status ? true : undefined));

/** A long answer into which `outage` falls; it must come out as if nothing had happened. */
async function surviveWith(outage: () => Promise<void>): Promise<void> {
  const stream = await openStream(url, LONG);
  await eventually(() => (stream.text === '' ? undefined : true));
  await outage();
  await stream.over;
  expect(stream.error).toBeUndefined();
  expect(stream.finishReason).toBe('length');
  expect(stream.text).toBe(expected);
}

test.each(['small', 'large'])('an answer outlives a stopped and continued %s model', async (name) => {
  const pid = descendants(cli.pid).find(({ command }) => command.startsWith(`tokenrail ${name}`))?.pid ?? 0;
  await surviveWith(async () => {
    process.kill(pid, 'SIGSTOP');
    await untilStatus(503);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    process.kill(pid, 'SIGCONT');
    await untilStatus(200);
  });
});

test('an answer outlives a restart of the broker; requests meanwhile are told so at once', async () => {
  await surviveWith(async () => {
    await broker.stop();
    await untilStatus(503);
    await expect(ask(url)).rejects.toThrow(/^503.*bus_unavailable/);
    await broker.restart();
    await untilStatus(200);
  });
});
