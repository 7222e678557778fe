import { expect, test } from 'vitest';
import type { BusMessage } from '../../../transport/bus.ts';
import { ALL_BROKERS, bytes, codeOf, describeOnBrokers, nextStatus, settle, text } from './fixture.ts';

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

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
    a.publish('d', bytes('late'));
    await settle(a, b);
    expect(got).toBe(500);
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

describeOnBrokers('bus: requests', ALL_BROKERS, ({ connect }) => {
  test('many requests at once each get their own answer, the first one', async () => {
    const [a, b] = [await connect(), await connect()];
    b.subscribe('ask', ({ payload, reply }) => {
      b.publish(reply ?? '', bytes(`first ${text(payload)}`));
      b.publish(reply ?? '', bytes(`second ${text(payload)}`));
    });
    await b.flush();
    const answers = await Promise.all(
      range(200).map((i) => a.request('ask', bytes(String(i)), { timeoutMs: 30_000 })),
    );
    expect(answers.map(({ payload }) => text(payload))).toEqual(range(200).map((i) => `first ${i}`));
  });

  test('a request that nobody listens to fails at once with no_responders', async () => {
    const a = await connect();
    expect(await codeOf(() => a.request('nobody', bytes('x'), { timeoutMs: 30_000 }))).toBe('no_responders');
  });

  test('a publish with a reply subject that nobody listens to is answered by a 503', async () => {
    const [a, b] = [await connect(), await connect()];
    const got: BusMessage[] = [];
    const elsewhere: BusMessage[] = [];
    a.subscribe('inbox.a.*', (message) => got.push(message));
    b.subscribe('inbox.a.*', (message) => elsewhere.push(message));
    await Promise.all([a.flush(), b.flush()]);
    a.publish('nobody', bytes('x'), { reply: 'inbox.a.7' });
    await settle(a, b);
    expect(
      got.map(({ subject, isNoResponders, payload }) => [subject, isNoResponders, payload.length]),
    ).toEqual([['inbox.a.7', true, 0]]);
    expect(elsewhere).toEqual([]);
  });

  test('no 503 where somebody listens, through a wildcard or in a queue group', async () => {
    const [a, b] = [await connect(), await connect()];
    let notices = 0;
    a.subscribe('inbox.b.*', ({ isNoResponders }) => (notices += isNoResponders ? 1 : 0));
    b.subscribe('some.*', () => {});
    b.subscribe('work', () => {}, { queue: 'w' });
    await Promise.all([a.flush(), b.flush()]);
    a.publish('some.body', bytes('x'), { reply: 'inbox.b.1' });
    a.publish('work', bytes('x'), { reply: 'inbox.b.2' });
    await settle(a, b, a);
    expect(notices).toBe(0);
  });

  test('the 503 returns once the last member of a group is gone', async () => {
    const [a, b] = [await connect(), await connect()];
    b.subscribe('group', () => {}, { queue: 'g' });
    await b.flush();
    await b.close();
    expect(await codeOf(() => a.request('group', bytes('x'), { timeoutMs: 30_000 }))).toBe('no_responders');
  });

  test('a listener that does not answer gives bus_timeout', async () => {
    const a = await connect();
    a.subscribe('deaf', () => {});
    expect(await codeOf(() => a.request('deaf', bytes('x'), { timeoutMs: 20 }))).toBe('bus_timeout');
  });

  test('answers arrive below the inbox prefix that was asked for', async () => {
    const a = await connect({ inboxPrefix: 'ns.inbox.gateway.g1' });
    let reply = '';
    a.subscribe('where', (message) => {
      reply = message.reply ?? '';
      a.publish(reply, bytes('here'));
    });
    await a.request('where', bytes(''), { timeoutMs: 30_000 });
    expect(reply).toMatch(/^ns\.inbox\.gateway\.g1\.[a-z0-9]+$/);
  });
});

describeOnBrokers('bus: limits and faults', ALL_BROKERS, ({ connect, broker }) => {
  test('a payload of exactly the limit passes, one byte more is refused here and the connection lives', async () => {
    const [a, b] = [await connect(), await connect()];
    const sizes: number[] = [];
    b.subscribe('big', ({ payload }) => sizes.push(payload.length));
    await b.flush();
    expect(a.maxPayloadBytes).toBe(1_048_576);
    a.publish('big', new Uint8Array(1_048_576));
    expect(await codeOf(() => a.publish('big', new Uint8Array(1_048_577)))).toBe('payload_over_bus_limit');
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
    b.subscribe('bad.rejects', (async () => {
      await Promise.resolve();
      throw new Error('handler failed later');
    }) as () => void);
    b.subscribe('bad.*', ({ subject }) => got.push(subject));
    await b.flush();
    for (const i of range(20)) a.publish(i % 2 === 0 ? 'bad.throws' : 'bad.rejects', bytes('x'));
    await settle(a, b);
    expect(got.length).toBe(20);
    expect(b.counters()['handlerErrors']).toBe(20);
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
    for (const i of range(25)) a.publish('r.x', bytes(`lost ${i}`));
    expect(a.counters()['lostWhileDisconnected']).toBe(25);
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
