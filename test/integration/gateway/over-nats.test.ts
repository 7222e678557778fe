import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startGateway, type Gateway } from '../../../actors/gateway/index.ts';
import { silentLogger } from '../../../core/log.ts';
import { SystemClock } from '../../../core/system-clock.ts';
import type { Bus } from '../../../transport/bus.ts';
import { connectNats } from '../../../transport/nats.ts';
import {
  hasNatsServer,
  requiresNatsServer,
  startTestBroker,
  type TestBroker,
  type TestBrokerKind,
} from '../../helpers/nats-server.ts';
import { ScriptedHome } from '../../helpers/scripted-home.ts';
import { bytesAsIds, choiceOf, deployment, EOS, gatewayOptions, hello, readStream, until } from './setup.ts';

const clock = new SystemClock();
const product = { ...deployment, namespace: 'tokenrail' };
const kinds: TestBrokerKind[] = ['embedded', 'nats-server'];

describe.each(kinds)('a gateway over %s', (kind) => {
  const isMissing = kind === 'nats-server' && !hasNatsServer() && !requiresNatsServer();
  if (isMissing) {
    it.skip('no nats-server on the PATH', () => {});
    return;
  }

  let broker: TestBroker;
  let buses: Bus[] = [];
  let home: ScriptedHome;
  let gateway: Gateway;

  const connect = async (name: string): Promise<Bus> => {
    const bus = await connectNats({
      servers: broker.url,
      name,
      logger: silentLogger,
      clock,
      reconnectTimeWaitMs: 20,
    });
    buses.push(bus);
    return bus;
  };
  const post = (body: object, signal?: AbortSignal): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'tokenrail', messages: [hello], ...body }),
      signal: signal ?? null,
    });

  beforeEach(async () => {
    broker = await startTestBroker(kind);
    const answer = () => [...bytesAsIds('Hello 🙂'), EOS];
    home = new ScriptedHome(await connect('home'), {
      deployment: product,
      answer,
      maxModelLenTokens: 1_000_000,
    });
    const options = gatewayOptions({ deployment: product, idleProbeMs: 50 });
    const bus = await connect('gateway');
    gateway = await startGateway(options, { bus, clock, logger: silentLogger, random: Math.random });
    await home.start();
    await until(async () => (await fetch(`${gateway.url}/health/ready`)).status === 200);
  });

  afterEach(async () => {
    home.stop();
    await gateway.close();
    await Promise.all(buses.map((bus) => bus.close()));
    buses = [];
    await broker.stop();
  });

  it('answers, streamed and not', async () => {
    expect(choiceOf(await (await post({})).json()).message?.content).toBe('Hello 🙂');
    expect(readStream(await (await post({ stream: true })).text()).text).toBe('Hello 🙂');
  });

  it('notices a home that is gone, before the answer and in the middle of it', async () => {
    home.onAdmit = (session) => {
      session.admitted();
      session.tokens(bytesAsIds('a'));
    };
    const stream = await post({ stream: true });
    home.stop();
    expect(await stream.text()).toMatch(/"code":"model_unavailable"[^]*\[DONE\]/);
    const next = await post({});
    expect([next.status, next.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('refuses what a broker with a lower limit does not take, and goes on after its restart', async () => {
    const prompt = Array<number>(20_000).fill(5);
    const ask = (): Promise<Response> =>
      fetch(`${gateway.url}/v1/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'tokenrail', prompt, max_tokens: 1 }),
      });
    expect((await ask()).status).toBe(200);
    await broker.stop();
    await until(() => buses.every(({ status }) => status === 'disconnected'));
    expect((await post({})).status).toBe(503);
    await broker.restart({ maxPayloadBytes: 65_536 });
    await until(() => buses.every(({ status }) => status === 'connected'));
    expect((await ask()).status).toBe(413);
    expect((await post({})).status).toBe(200);
  });

  const runExample = (): Promise<{ stdout: string }> => {
    const file = fileURLToPath(new URL('../../../examples/nats-client.ts', import.meta.url));
    return promisify(execFile)(process.execPath, ['--import', 'tsx', file, broker.url, 'Hi']);
  };

  it('serves the client of the examples', async () => {
    expect((await runExample()).stdout).toBe('Hello 🙂');
  });

  it('has errors that the client of the examples reports', async () => {
    home.onAdmit = (session) => {
      session.admitted();
      session.tokens(bytesAsIds('a'));
      home.stop();
    };
    await expect(runExample()).rejects.toMatchObject({
      code: 1,
      stdout: 'a',
      stderr: expect.stringContaining('model_unavailable: ') as string,
    });
    await gateway.close();
    await expect(runExample()).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no gateway listens') as string,
    });
  });

  it('frees the home when a client on the bus leaves', async () => {
    home.onAdmit = (session) => session.admitted();
    const bus = await connect('client');
    let numSeen = 0;
    const subscription = bus.subscribe('clients.me', () => (numSeen += 1));
    await bus.flush();
    const request = JSON.stringify({ model: 'tokenrail', messages: [hello] });
    bus.publish('tokenrail.requests', Buffer.from(request), { reply: 'clients.me' });
    await until(() => numSeen === 1);
    subscription.unsubscribe();
    await bus.flush();
    home.session().tokens(bytesAsIds('a'));
    await until(() => home.aborts.length === 1);
    expect(home.aborts).toMatchObject([{ reason: 'abort' }]);
  });
});
