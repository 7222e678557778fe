import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RawNatsClient } from '../../helpers/raw-nats-client.ts';
import { broker, open, restart, useFreshBroker } from './embedded-fixture.ts';

useFreshBroker();

const REFUSED: readonly (readonly [name: string, input: string | Buffer, error: RegExp])[] = [
  ['an unknown command', 'HELLO\r\n', /Unknown Protocol Operation/],
  ['an HTTP request', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', /Unknown Protocol Operation/],
  ['an empty line', '\r\n', /Unknown Protocol Operation/],
  ['a line of 4,200 bytes', `PUB ${'a'.repeat(4200)} 0\r\n`, /Maximum Control Line Exceeded/],
  ['a line that never ends', Buffer.alloc(100_000, 'x'), /Maximum Control Line Exceeded/],
  [
    'random bytes without a line end',
    Buffer.from(Array.from({ length: 9000 }, (_, i) => ((i * 7 + 11) % 256) | 0x80)),
    /-ERR/,
  ],
  ['PUB without a size', 'PUB a\r\n', /Parser Error/],
  ['PUB without anything', 'PUB\r\n', /Parser Error/],
  ['PUB with too many arguments', 'PUB a b c 1\r\n', /Parser Error/],
  ['a negative size', 'PUB a -1\r\n', /Parser Error/],
  ['a size in hexadecimal', 'PUB a 0x10\r\n', /Parser Error/],
  ['a fractional size', 'PUB a 1.5\r\n', /Parser Error/],
  ['a size that is no number', 'PUB a b\r\n', /Parser Error/],
  ['a size beyond the limit', 'PUB a 1048577\r\n', /Maximum Payload Violation/],
  ['a size of ten digits', 'PUB a 9999999999\r\n', /Maximum Payload Violation/],
  ['a size of thirty digits', `PUB a ${'9'.repeat(30)}\r\n`, /Parser Error/],
  ['more header bytes than bytes', 'HPUB a 10 5\r\n', /Parser Error/],
  ['a payload longer than said', 'PUB a 2\r\nabcd\r\n', /Parser Error/],
  ['a payload whose end is missing', 'PUB a 2\r\nabPING\r\n', /Parser Error/],
  ['SUB without an id', 'SUB a\r\n', /Parser Error/],
  ['SUB with too many arguments', 'SUB a b c d\r\n', /Parser Error/],
  ['UNSUB without an id', 'UNSUB\r\n', /Parser Error/],
  ['UNSUB with a bad count', 'UNSUB 1 x\r\n', /Parser Error/],
  ['CONNECT without JSON', 'CONNECT hello\r\n', /Parser Error/],
  ['CONNECT with nothing', 'CONNECT\r\n', /Parser Error/],
];

describe('hostile input', () => {
  test.each(REFUSED)('%s ends that connection with -ERR and no other', async (_name, input, error) => {
    const [bystander, hostile] = [await open(), await open()];
    bystander.send('SUB ok 1\r\n');
    hostile.send(typeof input === 'string' ? input : Uint8Array.from(input));
    await hostile.until(error);
    await hostile.untilClosed();
    bystander.send('PUB ok 1\r\n!\r\n');
    expect(await bystander.roundTrip()).toBe('MSG ok 1 1\r\n!\r\n');
    expect(broker().stats().clients).toBe(1);
  });

  test.each(['..', '.', 'a.', '.a', 'a..b', '>.a', 'a.>.b'])(
    'SUB to %j is refused, the connection stays',
    async (subject) => {
      const client = await open();
      client.send(`SUB ${subject} 1\r\nSUB fine 2\r\nPUB fine 0\r\n\r\n`);
      expect(await client.roundTrip()).toBe("-ERR 'Invalid Subject'\r\nMSG fine 2 0\r\n\r\n");
    },
  );

  test.each(['null', '1', '[]', '"x"', '{"echo":7,"headers":"yes","verbose":{}}'])(
    'CONNECT %s is taken as defaults',
    async (json) => {
      const client = await open(`CONNECT ${json}\r\n`);
      client.send('SUB a 1\r\nPUB a 0\r\n\r\n');
      expect(await client.roundTrip()).toBe('MSG a 1 0\r\n\r\n');
    },
  );

  test('arbitrary bytes in arbitrary pieces never harm the broker', async () => {
    const word = fc.constantFrom(
      'PUB a 3\r\nabc\r\n',
      'SUB > 1\r\n',
      'HPUB a 2 4\r\n',
      'UNSUB 1\r\n',
      'PING\r\n',
      '\r\n',
      'CONNECT {}\r\n',
      'PUB ',
      '99',
      ' ',
      'SUB a q 2\r\n',
    );
    const piece = fc.oneof(word, fc.string({ unit: 'binary', maxLength: 20 }));
    const bystander = await open();
    bystander.send('SUB steady 9\r\n');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const hostile = await open('');
        for (const text of pieces) hostile.send(Buffer.from(text, 'utf8'));
        hostile.socket.end();
        await hostile.untilClosed();
        bystander.send('PUB steady 1\r\n!\r\n');
        expect(await bystander.roundTrip()).toContain('MSG steady 9 1\r\n!\r\n');
      }),
      { numRuns: 60 },
    );
    expect(broker().stats()).toMatchObject({ clients: 1, subscriptions: 1 });
  });

  test('a subject of 2,000 tokens works like any other', async () => {
    const client = await open();
    const subject = Array.from({ length: 2000 }, () => 'a').join('.');
    client.send(
      `SUB ${subject} 1\r\nSUB ${subject.slice(2).replace(/a/g, '*')} 2\r\nSUB a.> 3\r\nPUB ${subject} 0\r\n\r\n`,
    );
    const got = await client.roundTrip();
    expect(
      got
        .split('\r\n')
        .map((line) => line.split(' ')[2])
        .filter(Boolean)
        .sort(),
    ).toEqual(['1', '3']);
  });

  test('clients that vanish in the middle of a payload leave nothing behind', async () => {
    for (let i = 0; i < 20; i += 1) {
      const client = await open();
      client.send(`SUB gone.${i} 1\r\nSUB gone.> g 2\r\nPUB gone.${i} 1000\r\nhalf`);
      client.socket.end();
      await client.untilClosed();
    }
    expect(broker().stats()).toMatchObject({ clients: 0, subscriptions: 0 });
  });
});

describe('limits', () => {
  test('a client that does not read is cut; the others keep their messages', async () => {
    await restart({ maxPendingBytes: 3_000_000 });
    const [slow, reader, sender] = [await open(), await open(), await open()];
    slow.send('SUB flood 1\r\n');
    reader.send('SUB flood 1\r\n');
    await Promise.all([slow.roundTrip(), reader.roundTrip()]);
    slow.socket.pause();
    let sent = 0;
    while ((broker().stats().cuts['Slow Consumer'] ?? 0) === 0 && sent < 500) {
      sender.send(`PUB flood 100000\r\n${'x'.repeat(100_000)}\r\n`);
      sent += 1;
      await sender.roundTrip();
    }
    expect(broker().stats().cuts).toEqual({ 'Slow Consumer': 1 });
    const received = (await reader.roundTrip()).match(/MSG flood/g) ?? [];
    expect(received.length).toBe(sent);
    slow.socket.resume();
    await slow.untilClosed();
  });

  test('silent clients are pinged and, without an answer, ended', async () => {
    await restart({ pingIntervalMs: 60, maxPingsOut: 2 });
    const [alive, silent] = [await open(), await open()];
    const answer = (): void => {
      if (alive.received.includes('PING\r\n')) {
        alive.take();
        alive.send('PONG\r\n');
      }
    };
    alive.socket.on('data', answer);
    await silent.until(/-ERR 'Stale Connection'/);
    expect(silent.received.match(/PING/g)?.length).toBe(2);
    await silent.untilClosed();
    alive.socket.off('data', answer);
    expect(alive.isClosed).toBe(false);
  });

  test('without credentials nothing is served, and waiting ends', async () => {
    await restart({ credentials: { token: 'secret' }, authTimeoutMs: 20 });
    const late = await open('');
    await late.until(/-ERR 'Authentication Timeout'/);
    await restart({ credentials: { token: 'secret' }, authTimeoutMs: 600_000 });
    const early = await open('SUB > 1\r\n');
    await early.until(/-ERR 'Authorization Violation'/);
    const wrong = await open('CONNECT {"auth_token":["secret"]}\r\n');
    await wrong.until(/-ERR 'Authorization Violation'/);
    const right = await open('CONNECT {"auth_token":"secret"}\r\n');
    right.send('SUB a 1\r\nPUB a 0\r\n\r\n');
    expect(await right.roundTrip()).toBe('MSG a 1 0\r\n\r\n');
    expect(right.isClosed).toBe(false);
  });

  test('connections and subscriptions are bounded', async () => {
    await restart({ maxConnections: 2, maxSubscriptionsPerClient: 3 });
    const [first] = [await open(), await open()];
    const third = await RawNatsClient.open(broker().port);
    await third.until(/-ERR 'maximum connections exceeded'/);
    first.send('SUB a 1\r\nSUB a 2\r\nSUB a 3\r\nSUB a 4\r\n');
    await first.until(/-ERR 'maximum subscriptions exceeded'/);
    await first.untilClosed();
    expect(broker().stats()).toMatchObject({ clients: 1, subscriptions: 0 });
  });
});
