import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startGateway } from '../../../actors/gateway/index.ts';
import { silentLogger } from '../../../core/log.ts';
import { SystemClock } from '../../../core/system-clock.ts';
import { LocalBroker } from '../../helpers/local-bus.ts';
import { bytesAsIds, EOS, gatewayOptions, parseSse, readStream, serve, until, type Served } from './setup.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

const start = (fields: Parameters<typeof gatewayOptions>[0]) =>
  startGateway(gatewayOptions(fields), {
    bus: new LocalBroker().connect(),
    clock: new SystemClock(),
    logger: silentLogger,
    random: Math.random,
  });

describe('starting', () => {
  it('fails at once on a port that is taken, naming it', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    // The missing tokenizer shows that nothing was loaded before.
    const failure = start({ port, tokenizerDir: '/nowhere' });
    await expect(failure).rejects.toMatchObject({ code: 'port_unavailable' });
    await expect(failure).rejects.toThrow(`127.0.0.1:${port}`);
    other.close();
  });

  it('fails on an address that is not ours, on a missing tokenizer, and on options out of range', async () => {
    await expect(start({ host: '192.0.2.1' })).rejects.toMatchObject({ code: 'port_unavailable' });
    await expect(start({ tokenizerDir: '/nowhere' })).rejects.toMatchObject({ code: 'checkpoint_invalid' });
    await expect(start({ servedModelNames: [] })).rejects.toMatchObject({
      code: 'config_invalid',
      param: 'servedModelNames',
    });
    await expect(start({ maxInflight: 0 })).rejects.toMatchObject({
      code: 'config_invalid',
      param: 'maxInflight',
    });
    await expect(start({ keepAliveMs: Number.NaN })).rejects.toMatchObject({
      code: 'config_invalid',
      param: 'keepAliveMs',
    });
  });
});

describe('health', () => {
  it('tells live from ready, with the reason per model', async () => {
    served = await serve();
    const ready = await fetch(`${served.url}/health/ready`);
    expect(ready.status).toBe(200);
    served.home.heartbeat({ model: 2, stepAgeMs: 60_000 });
    await until(async () => (await fetch(`${(served as Served).url}/health/ready`)).status === 503);
    const unready = await fetch(`${served.url}/health_generate`);
    expect(unready.headers.get('retry-after')).toBe('1');
    expect(await unready.json()).toMatchObject({
      status: 'unready',
      gateway: 'serving',
      bus: 'connected',
      models: { small: { status: 'ready' }, large: { status: 'unready' } },
    });
    expect((await fetch(`${served.url}/health`)).status).toBe(200);
    served.home.heartbeat({ model: 2 });
    await until(async () => (await fetch(`${(served as Served).url}/health/ready`)).status === 200);
  });

  it('answers before anybody has been heard of; requests are told so', async () => {
    const gateway = await start({});
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(503);
    const body = JSON.stringify({ model: 'tokenrail', prompt: 'Hi' });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${gateway.url}/v1/completions`, { method: 'POST', body, headers });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: 'model_unavailable' } });
    expect(await (await fetch(`${gateway.url}/version`)).json()).toEqual({ version: '0.1.0' });
    await gateway.close();
    await expect(fetch(`${gateway.url}/health`)).rejects.toThrow();
  });
});

describe('draining', () => {
  it('lets answers finish, refuses new ones, and then is gone', async () => {
    served = await serve({ home: { auto: false } });
    const { url, home, gateway } = served;
    const streams = await Promise.all([served.chat({ stream: true }), served.chat({ stream: true })]);
    const whole = served.chat({});
    await until(() => home.admits.length === 3);
    const drained = gateway.drain(60_000);
    const refused = await served.chat({});
    expect([refused.status, ((await refused.json()) as { error: { code: string } }).error.code]).toEqual([
      503,
      'shutting_down',
    ]);
    expect(await (await fetch(`${url}/health/ready`)).json()).toMatchObject({
      status: 'unready',
      gateway: 'draining',
    });
    for (const session of home.sessions.values()) {
      session.tokens([...bytesAsIds('done'), EOS]);
      session.finish('eos');
    }
    for (const stream of streams)
      expect(readStream(await stream.text())).toMatchObject({ text: 'done', finishReason: 'stop' });
    expect((await whole).status).toBe(200);
    await drained;
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });

  it('ends what takes longer with an error frame, and tells the home', async () => {
    served = await serve({ home: { auto: false } });
    const stream = await served.chat({ stream: true });
    const whole = served.chat({});
    await until(() => served?.home.admits.length === 2);
    served.home.session().tokens(bytesAsIds('half'));
    await served.gateway.drain(20);
    const events = parseSse(await stream.text());
    expect(events.at(-2)?.data).toMatchObject({ error: { code: 'shutting_down' } });
    expect(events.at(-1)).toEqual({ done: true });
    expect((await whole).status).toBe(503);
    await until(() => served?.home.aborts.length === 2);
  });

  it('may be cut short by close, and both may be called twice', async () => {
    served = await serve({ home: { auto: false } });
    const stream = await served.chat({ stream: true });
    const drained = served.gateway.drain(60_000);
    await Promise.all([served.gateway.close(), served.gateway.close(), drained, served.gateway.drain(5)]);
    expect(await stream.text()).toContain('"code":"shutting_down"');
  });
});
