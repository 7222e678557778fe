import { expect, test } from 'vitest';
import type { BusHandler } from '../../../transport/bus.ts';
import { RawNatsClient } from '../../helpers/raw-nats-client.ts';
import { ALL_BROKERS, bytes, codeOf, describeOnBrokers, nextStatus, range, settle, text } from './fixture.ts';

describeOnBrokers('bus: limits and faults', ALL_BROKERS, ({ connect, broker }) => {
  test('a payload of exactly the limit passes, one byte more is refused here and the connection lives', async () => {
    const [a, b] = [await connect(), await connect()];
    const sizes: number[] = [];
    b.subscribe('big', ({ payload }) => sizes.push(payload.length));
    await b.flush();
    expect(a.maxPayloadBytes).toBe(1_048_576);
    a.publish('big', new Uint8Array(1_048_576));
    expect(await codeOf(() => a.publish('big', new Uint8Array(1_048_577)))).toBe('payload_over_bus_limit');
    expect(() => a.publish('big', new Uint8Array(1_048_577))).toThrow(/1048577 bytes for big.*1048576/);
    const headers = { k: 'v' };
    expect(await codeOf(() => a.publish('big', new Uint8Array(1_048_570), { headers }))).toBe(
      'payload_over_bus_limit',
    );
    const asRequest = (): unknown => a.request('big', new Uint8Array(3 << 20), { timeoutMs: 30_000 });
    expect(await codeOf(asRequest)).toBe('payload_over_bus_limit');
    a.publish('big', bytes('after'));
    await settle(a, b);
    expect(sizes).toEqual([1_048_576, 5]);
    expect([a.status, a.counters()['reconnects']]).toEqual(['connected', 0]);
  });

  test('a handler that throws or rejects is counted and stops nothing', async () => {
    const [a, b] = [await connect(), await connect()];
    const got: string[] = [];
    b.subscribe('bad.throws', () => {
      throw new Error('handler failed');
    });
    // An async function passes as a handler where the compiler does not look.
    const rejecting = (() => Promise.reject(new Error('handler failed later'))) as unknown as BusHandler;
    b.subscribe('bad.rejects', rejecting);
    b.subscribe('bad.*', ({ subject }) => got.push(subject));
    await b.flush();
    for (const i of range(20)) a.publish(i % 2 === 0 ? 'bad.throws' : 'bad.rejects', bytes('x'));
    await settle(a, b);
    expect(got.length).toBe(20);
    expect(b.counters()['handlerErrors']).toBe(20);
  });

  test('a message with malformed headers is counted and stops nothing', async () => {
    const b = await connect();
    const got: string[] = [];
    b.subscribe('hdr', ({ payload }) => got.push(text(payload)));
    const raw = await RawNatsClient.open(broker().port);
    raw.send('CONNECT {"headers":true,"verbose":false}\r\nSUB answer.me 1\r\n');
    await raw.roundTrip();
    const answer = b.request('answer.me', bytes('x'), { timeoutMs: 30_000 });
    const [, reply = ''] = await raw.until(/MSG answer\.me 1 (\S+) 1/);
    const bad = 'NATS/1.0\r\nbad key\x01: x\r\n\r\n';
    raw.send(
      `HPUB hdr ${bad.length} ${bad.length + 1}\r\n${bad}!\r\nHPUB ${reply} ${bad.length} ${bad.length}\r\n${bad}\r\n`,
    );
    raw.send(`PUB hdr 2\r\nok\r\nPUB ${reply} 4\r\ngood\r\n`);
    expect(text((await answer).payload)).toBe('good');
    await b.flush();
    expect(got).toEqual(['ok']);
    expect(b.counters()['malformed']).toBe(2);
    raw.close();
  });

  test('close flushes, is the same promise twice, and ends the bus', async () => {
    const [a, b] = [await connect(), await connect()];
    let got = 0;
    b.subscribe('c', () => (got += 1));
    await b.flush();
    const statuses: string[] = [];
    a.onStatus((status) => statuses.push(status));
    for (const i of range(300)) a.publish('c', bytes(String(i)));
    const closing = a.close();
    expect(a.close()).toBe(closing);
    await closing;
    await b.flush();
    expect(got).toBe(300);
    expect([a.status, statuses]).toEqual(['closed', ['closed']]);
    expect(await codeOf(() => a.publish('c', bytes('x')))).toBe('bus_unavailable');
    expect(await codeOf(() => a.subscribe('c', () => {}))).toBe('bus_unavailable');
    expect(await codeOf(() => a.request('c', bytes('x'), { timeoutMs: 30_000 }))).toBe('bus_unavailable');
    expect(await codeOf(() => a.flush())).toBe('bus_unavailable');
  });

  test('close ends open requests', async () => {
    const a = await connect();
    a.subscribe('deaf', () => {});
    const code = codeOf(() => a.request('deaf', bytes('x'), { timeoutMs: 30_000 }));
    await a.flush();
    await a.close();
    expect(await code).toBe('bus_unavailable');
  });

  test('an outage is seen, counted, and healed with all subscriptions on the same port', async () => {
    const [a, b] = [await connect(), await connect()];
    const got: string[] = [];
    const gone = b.subscribe('r.*', () => got.push('removed during the outage'));
    b.subscribe('r.*', ({ payload }) => got.push(text(payload)));
    await b.flush();
    a.subscribe('deaf', () => {});
    const pending = codeOf(() => a.request('deaf', bytes('x'), { timeoutMs: 600_000 }));
    await a.flush();
    const down = [nextStatus(a, 'disconnected'), nextStatus(b, 'disconnected')];
    await broker().stop();
    await Promise.all(down);
    expect(await pending).toBe('bus_unavailable');
    expect(await codeOf(() => a.request('r.x', bytes('x'), { timeoutMs: 600_000 }))).toBe('bus_unavailable');
    expect(await codeOf(() => a.flush())).toBe('bus_unavailable');
    const { published } = a.counters();
    for (const i of range(25)) a.publish('r.x', bytes(`lost ${i}`));
    expect(a.counters()).toMatchObject({ lostWhileDisconnected: 25, published });
    gone.unsubscribe();
    b.subscribe('during', ({ payload }) => got.push(text(payload)));
    const up = [nextStatus(a, 'connected'), nextStatus(b, 'connected')];
    await broker().restart();
    await Promise.all(up);
    await settle(b, b);
    a.publish('r.x', bytes('after'));
    a.publish('during', bytes('new'));
    await settle(a, b);
    expect(got).toEqual(['after', 'new']);
    expect([a.counters()['reconnects'], a.status]).toEqual([1, 'connected']);
  });

  test('the payload limit follows the broker after a restart', async () => {
    const a = await connect();
    const up = nextStatus(a, 'connected');
    await broker().restart({ maxPayloadBytes: 65_536 });
    await up;
    expect(a.maxPayloadBytes).toBe(65_536);
    expect(await codeOf(() => a.publish('x', new Uint8Array(65_537)))).toBe('payload_over_bus_limit');
    a.publish('x', new Uint8Array(65_536));
    await a.flush();
  });

  test('a bus can be closed during an outage', async () => {
    const a = await connect();
    const down = nextStatus(a, 'disconnected');
    await broker().stop();
    await down;
    await a.close();
    expect(a.status).toBe('closed');
    await broker().restart({ maxPayloadBytes: 1_048_576 });
  });
});
