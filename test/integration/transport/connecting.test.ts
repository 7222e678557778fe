import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { freePort } from '../../../bench/lib/free-port.ts';
import type { TokenrailError } from '../../../core/errors.ts';
import { resolveBroker, type ResolvedBroker } from '../../../transport/broker.ts';
import type { Bus } from '../../../transport/bus.ts';
import { startEmbeddedBroker } from '../../../transport/embedded-broker/start.ts';
import { connectNats, type NatsOptions } from '../../../transport/nats.ts';
import { probeNatsServer } from '../../../transport/nats-probe.ts';
import { startNatsServer } from '../../../transport/nats-server-process.ts';
import { parseServerAddress } from '../../../transport/server-address.ts';
import { hasNatsServer, startTestBroker } from '../../helpers/nats-server.ts';
import { ALL_BROKERS, bytes, clock, codeOf, describeOnBrokers, text } from './fixture.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(servers: NatsOptions['servers'], options: Partial<NatsOptions> = {}): Promise<Bus> {
  const bus = await connectNats({ servers, name: 'connecting', clock, ...options });
  cleanups.push(() => bus.close());
  return bus;
}

/** A TCP server of ours on a free port; returns the port. */
async function listen(onConnection: Parameters<typeof createServer>[1]): Promise<number> {
  const server: Server = createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('the first connection', () => {
  test('nobody there: bus_unavailable that names the address', async () => {
    const port = await freePort();
    const attempt = connectNats({
      servers: `nats://127.0.0.1:${port}`,
      name: 'x',
      clock,
      connectTimeoutMs: 120,
    });
    await expect(attempt).rejects.toMatchObject({ code: 'bus_unavailable' });
    await expect(attempt).rejects.toThrow(new RegExp(`127\\.0\\.0\\.1:${port}.*ECONNREFUSED`));
  });

  test('a broker that comes up while we wait is found', async () => {
    const port = await freePort();
    const bus = open(`127.0.0.1:${port}`, { connectTimeoutMs: 30_000 });
    const broker = await startEmbeddedBroker({ port, inThread: false });
    cleanups.push(() => broker.stop());
    expect((await bus).status).toBe('connected');
  });

  test.each([
    [
      'talks another protocol',
      (socket: { write(data: string): unknown }) => socket.write('220 mail ready\r\n'),
    ],
    ['closes at once', (socket: { destroy(): unknown }) => socket.destroy()],
    ['says nothing', () => {}],
  ] as const)('a program that %s on the port is no broker', async (_name, behave) => {
    const sockets: { destroy(): unknown }[] = [];
    const port = await listen((socket) => {
      sockets.push(socket.on('error', () => {}));
      behave(socket);
    });
    cleanups.push(() => sockets.forEach((socket) => socket.destroy()));
    const act = (): unknown => open(`nats://127.0.0.1:${port}`, { connectTimeoutMs: 100 });
    expect(await codeOf(act)).toBe('bus_unavailable');
  });

  test('of several servers one is enough', async () => {
    const broker = await startTestBroker('embedded');
    cleanups.push(() => broker.stop());
    const bus = await open([`nats://127.0.0.1:${await freePort()}`, broker.url], {
      connectTimeoutMs: 10_000,
    });
    await bus.flush();
  });

  test.each(['', 'http://x:1', 'nats://', 'nats://h:99999'])('%j is no address', async (servers) => {
    expect(await codeOf(() => open(servers))).toBe('config_invalid');
  });
});

describeOnBrokers('credentials', ALL_BROKERS, (_fixture, variant) => {
  const kind = variant === 'nats-server' ? 'nats-server' : 'embedded';

  test('the right token opens, by option or in the URL; others are refused without waiting', async () => {
    const broker = await startTestBroker(kind, { token: 's3cret "quoted"' });
    cleanups.push(() => broker.stop());
    await (await open(broker.url, { token: 's3cret "quoted"' })).flush();
    const inUrl = broker.url.replace('nats://', `nats://${encodeURIComponent('s3cret "quoted"')}@`);
    await (await open(inUrl)).flush();
    for (const options of [{}, { token: 'wrong' }, { user: 'u', pass: 's3cret "quoted"' }]) {
      const act = (): unknown => open(broker.url, { ...options, connectTimeoutMs: 600_000 });
      expect(await codeOf(act)).toBe('bus_unavailable');
    }
  });
});

describe('user and password at the embedded broker', () => {
  test('both must be right', async () => {
    const broker = await startEmbeddedBroker({ user: 'rail', pass: 'token', inThread: false });
    cleanups.push(() => broker.stop());
    await (await open(broker.url, { user: 'rail', pass: 'token' })).flush();
    await (await open(broker.url.replace('nats://', 'nats://rail:token@'))).flush();
    for (const [user, pass] of [
      ['rail', 'wrong'],
      ['other', 'token'],
      ['rail', ''],
    ] as const) {
      expect(await codeOf(() => open(broker.url, { user, pass, connectTimeoutMs: 600_000 }))).toBe(
        'bus_unavailable',
      );
    }
  });
});

async function roundTrip(broker: ResolvedBroker, token?: string): Promise<string> {
  const bus = await open(broker.url, token === undefined ? {} : { token });
  bus.subscribe('echo', ({ payload, reply }) => bus.publish(reply ?? '', payload));
  return text((await bus.request('echo', bytes('hello'), { timeoutMs: 30_000 })).payload);
}

describe('resolveBroker', () => {
  test('a given URL is taken as it is; its credentials are not printed', async () => {
    const broker = await resolveBroker({ clock, url: 'nats://user:pa55@broker.example:4333' });
    expect(broker).toMatchObject({ kind: 'given', url: 'nats://user:pa55@broker.example:4333', limits: [] });
    expect(broker.description).toBe('NATS at nats://broker.example:4333');
    await broker.stop();
  });

  test.skipIf(!hasNatsServer())('a nats-server on the PATH is started on loopback and ended', async () => {
    const broker = await resolveBroker({ clock, token: 't', maxPayloadBytes: 70_000 });
    cleanups.push(() => broker.stop());
    expect(broker).toMatchObject({
      kind: 'nats-server',
      url: expect.stringMatching(/^nats:\/\/127\.0\.0\.1:\d+$/) as string,
    });
    expect(await roundTrip(broker, 't')).toBe('hello');
    expect((await open(broker.url, { token: 't' })).maxPayloadBytes).toBe(70_000);
    await broker.stop();
    await broker.stop();
    expect(await codeOf(() => open(broker.url, { token: 't', connectTimeoutMs: 60 }))).toBe(
      'bus_unavailable',
    );
  });

  test('the embedded broker, when preferred, runs in a thread and says what it cannot do', async () => {
    const broker = await resolveBroker({ clock, preferEmbedded: true, token: 't' });
    cleanups.push(() => broker.stop());
    expect(broker).toMatchObject({
      kind: 'embedded',
      url: expect.stringMatching(/^nats:\/\/127\.0\.0\.1:\d+$/) as string,
    });
    expect(broker.limits.join()).toMatch(/at most once.*JetStream.*TLS.*cluster.*accounts/);
    expect(await roundTrip(broker, 't')).toBe('hello');
  });

  test('without a nats-server on the PATH the embedded broker is taken', async () => {
    const path = process.env['PATH'];
    process.env['PATH'] = '/nonexistent';
    cleanups.push(() => (process.env['PATH'] = path));
    const broker = await resolveBroker({ clock });
    cleanups.push(() => broker.stop());
    expect(broker.kind).toBe('embedded');
    expect(await roundTrip(broker)).toBe('hello');
  });
});

describe('a nats-server of our own', () => {
  test('a program that ends at once is an error with the end of its log', async () => {
    const error = await startNatsServer({ executable: '/bin/false', clock }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'bus_unavailable' });
    expect((error as TokenrailError).message).toContain('/bin/false');
  });

  test('a program that does not exist is an error', async () => {
    expect(await codeOf(() => startNatsServer({ executable: '/nonexistent/nats-server', clock }))).toBe(
      'bus_unavailable',
    );
  });

  test.skipIf(!hasNatsServer())('a taken port is an error', async () => {
    const port = await listen(() => {});
    const executable =
      (await import('../../../transport/find-executable.ts')).findExecutable('nats-server') ?? '';
    expect(await codeOf(() => startNatsServer({ executable, port, clock }))).toBe('bus_unavailable');
  });

  test.skipIf(!hasNatsServer())('a server that is killed is reported', async () => {
    const executable =
      (await import('../../../transport/find-executable.ts')).findExecutable('nats-server') ?? '';
    let server: { pid: number; stop(): Promise<void> } | undefined;
    const failure = new Promise<TokenrailError>((resolve, reject) => {
      startNatsServer({ executable, clock, onFailure: resolve }).then((started) => {
        server = started;
        process.kill(started.pid, 'SIGKILL');
      }, reject);
    });
    expect((await failure).code).toBe('bus_unavailable');
    await server?.stop();
  });
});

describe('a nats-server whose parent is killed', () => {
  test.skipIf(!hasNatsServer())('ends too', async () => {
    const code = `
      const { resolveBroker } = await import('./transport/broker.ts');
      const { SystemClock } = await import('./core/system-clock.ts');
      const broker = await resolveBroker({ clock: new SystemClock() });
      process.stdout.write(broker.url + '\\n');`;
    const root = fileURLToPath(new URL('../../..', import.meta.url));
    const args = ['--import', 'tsx', '--input-type=module', '-e', code];
    const parent = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    cleanups.push(() => parent.kill('SIGKILL'));
    const url = await new Promise<string>((resolve) =>
      parent.stdout.on('data', (chunk) => resolve(String(chunk).trim())),
    );
    const address = parseServerAddress(url) ?? { host: '', port: 0 };
    expect(await probeNatsServer(address, 10_000, clock)).toBeUndefined();
    parent.kill('SIGKILL');
    await vi.waitFor(
      async () => expect(await probeNatsServer(address, 10_000, clock)).toContain('ECONNREFUSED'),
      30_000,
    );
  });
});

describe('the embedded broker as a process part', () => {
  test.each([false, true])('a taken port is port_unavailable (in a thread: %s)', async (inThread) => {
    const port = await listen(() => {});
    expect(await codeOf(() => startEmbeddedBroker({ port, inThread }))).toBe('port_unavailable');
  });

  test.each([false, true])(
    'stop cuts clients, frees the port and may be called twice (in a thread: %s)',
    async (inThread) => {
      const first = await startEmbeddedBroker({ inThread });
      const bus = await open(first.url);
      const down = new Promise<void>(
        (resolve) => void bus.onStatus((status) => status === 'disconnected' && resolve()),
      );
      await first.stop();
      await down;
      await first.stop();
      const second = await startEmbeddedBroker({ inThread, port: first.port });
      await second.stop();
    },
  );
});
