import { expect, test } from 'vitest';
import type { BusMessage } from '../../../transport/bus.ts';
import { ALL_BROKERS, bytes, codeOf, describeOnBrokers, range, settle, text } from './fixture.ts';

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
