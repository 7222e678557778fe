import { expect, test } from 'vitest';
import type { BusMessage } from '../../../transport/bus.ts';
import { ALL_BROKERS, bytes, codeOf, describeOnBrokers, range, settle, text } from './fixture.ts';

describeOnBrokers('bus: delivery', ALL_BROKERS, ({ connect }, variant) => {
  test('messages of one publisher arrive in order, through a wildcard, and nothing else does', async () => {
    const [a, b] = [await connect(), await connect()];
    const got: number[] = [];
    b.subscribe('x.*.z', ({ payload }) => got.push(Number(text(payload))));
    await b.flush();
    for (const i of range(5000)) {
      a.publish(`x.${i % 7}.z`, bytes(String(i)));
      if (i % 500 === 0)
        for (const other of ['x.y', 'x.y.z.q', 'x.y.zz', 'xx.y.z']) a.publish(other, bytes('-1'));
    }
    await settle(a, b);
    expect(got).toEqual(range(5000));
  });

  test('the full wildcard takes one token and more, not none', async () => {
    const [a, b] = [await connect(), await connect()];
    const got: string[] = [];
    b.subscribe('w.>', ({ subject }) => got.push(subject));
    await b.flush();
    for (const subject of ['w', 'w.a', 'w.a.b.c', 'v.a']) a.publish(subject, bytes(''));
    await settle(a, b);
    expect(got).toEqual(['w.a', 'w.a.b.c']);
  });

  test('each message goes to one member of a queue group, all members are used, other groups get it too', async () => {
    const [a, b, c] = [await connect(), await connect(), await connect()];
    const members = [0, 0, 0];
    const seen = new Map<string, number>();
    const member = (index: number) => (message: BusMessage) => {
      members[index] = (members[index] ?? 0) + 1;
      seen.set(text(message.payload), (seen.get(text(message.payload)) ?? 0) + 1);
    };
    let others = 0;
    let plain = 0;
    b.subscribe('q.x', member(0), { queue: 'g' });
    b.subscribe('q.*', member(1), { queue: 'g' });
    c.subscribe('q.x', member(2), { queue: 'g' });
    c.subscribe('q.x', () => (others += 1), { queue: 'h' });
    c.subscribe('q.>', () => (plain += 1));
    await Promise.all([b.flush(), c.flush()]);
    for (const i of range(900)) a.publish('q.x', bytes(String(i)));
    await settle(a, b, c);
    expect([...seen.values()]).toEqual(range(900).map(() => 1));
    expect(members.every((count) => count > 100)).toBe(true);
    expect([others, plain]).toEqual([900, 900]);
  });

  test('a publisher hears itself, and each of its matching subscriptions once', async () => {
    const a = await connect();
    const got: string[] = [];
    a.subscribe('self.a', () => got.push('literal'));
    a.subscribe('self.*', () => got.push('wildcard'));
    a.publish('self.a', bytes('x'));
    await a.flush();
    expect(got.sort()).toEqual(['literal', 'wildcard']);
  });

  test('headers, reply subject and empty payloads come through', async () => {
    const [a, b] = [await connect(), await connect()];
    const got: BusMessage[] = [];
    b.subscribe('h', (message) => got.push(message));
    await b.flush();
    a.publish('h', bytes('body'), {
      headers: { traceparent: '00-abc-1', 'X-Two': 'a b:c' },
      reply: 'back.to.me',
    });
    a.publish('h', bytes(''), { headers: { k: 'v' } });
    a.publish('h', bytes(''));
    await settle(a, b);
    expect(got.map(({ headers, reply }) => ({ headers, reply }))).toEqual([
      { headers: { traceparent: '00-abc-1', 'X-Two': 'a b:c' }, reply: 'back.to.me' },
      { headers: { k: 'v' }, reply: undefined },
      { headers: undefined, reply: undefined },
    ]);
    expect(got.map(({ payload }) => text(payload))).toEqual(['body', '', '']);
    expect(got.some(({ isNoResponders }) => isNoResponders)).toBe(false);
  });

  test('every byte passes, in payloads of all sizes', async () => {
    const [a, b] = [await connect(), await connect()];
    const got: Uint8Array[] = [];
    b.subscribe('bin', ({ payload }) => got.push(payload));
    await b.flush();
    const sent = [0, 1, 255, 256, 4095, 4096, 65_536, 300_001].map((size) =>
      Uint8Array.from(range(size), (i) => (i * 31 + size) & 0xff),
    );
    for (const payload of sent) a.publish('bin', payload);
    await settle(a, b);
    expect(got.map((payload) => Buffer.from(payload).toString('base64'))).toEqual(
      sent.map((payload) => Buffer.from(payload).toString('base64')),
    );
  });

  test('a payload that is kept does not change when later messages arrive', async () => {
    const [a, b] = [await connect(), await connect()];
    const kept: Uint8Array[] = [];
    b.subscribe('keep', ({ payload }) => kept.push(payload));
    await b.flush();
    for (const i of range(3000)) {
      a.publish('keep', bytes(`message ${i} ${'#'.repeat(i % 100)}`));
      if (i % 100 === 0) await settle(a, b);
    }
    await settle(a, b);
    expect(kept.map(text)).toEqual(range(3000).map((i) => `message ${i} ${'#'.repeat(i % 100)}`));
  });

  test('unsubscribe stops delivery at once and may be called again', async () => {
    const [a, b] = [await connect(), await connect()];
    let got = 0;
    const subscription = b.subscribe('u', () => {
      got += 1;
      if (got === 3) subscription.unsubscribe();
    });
    await b.flush();
    for (const i of range(50)) a.publish('u', bytes(String(i)));
    await settle(a, b);
    subscription.unsubscribe();
    await subscription.drain();
    expect(got).toBe(3);
  });

  test('drain resolves after everything delivered has been handled, and nothing comes later', async () => {
    const [a, b] = [await connect(), await connect()];
    let got = 0;
    const subscription = b.subscribe('d', () => (got += 1));
    await b.flush();
    for (const i of range(500)) a.publish('d', bytes(String(i)));
    await a.flush();
    await subscription.drain();
    expect(got).toBe(500);
    const own = b.subscribe('own', () => (got += 1));
    for (const i of range(500)) b.publish('own', bytes(String(i)));
    await own.drain();
    expect(got).toBe(1000);
    a.publish('d', bytes('late'));
    a.publish('own', bytes('late'));
    await settle(a, b);
    expect(got).toBe(1000);
  });

  test('white space in a subject is refused: it would be read as another argument', async () => {
    const a = await connect();
    for (const subject of ['', 'a b', 'a\r\nPUB x 0', 'a\t']) {
      expect(await codeOf(() => a.publish(subject, bytes('')))).toBe('illegal_state');
      expect(await codeOf(() => a.subscribe(subject, () => {}))).toBe('illegal_state');
      expect(await codeOf(() => a.publish('ok', bytes(''), { reply: subject }))).toBe('illegal_state');
    }
    await a.flush();
  });

  test('a wildcard in a published subject reaches no literal subscriber', async () => {
    const [a, b] = [await connect(), await connect()];
    const got: string[] = [];
    b.subscribe('lit.one', ({ subject }) => got.push(subject));
    await b.flush();
    for (const subject of ['lit.*', 'lit.>', 'lit..one', '.lit.one', 'lit.one.'])
      a.publish(subject, bytes('x'));
    a.publish('lit.one', bytes('x'));
    await settle(a, b);
    expect(got).toEqual(['lit.one']);
  });

  test('the broker is named', async () => {
    const a = await connect();
    expect(a.brokerName).toMatch(variant === 'nats-server' ? /^nats-server \d+\.\d+/ : /^embedded broker$/);
    expect(a.status).toBe('connected');
  });
});
