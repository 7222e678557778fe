import { connect as connectClient } from 'nats';
import { describe, expect, test } from 'vitest';
import { RawNatsClient } from '../../helpers/raw-nats-client.ts';
import { broker, CONNECT, open, restart, useFreshBroker } from './embedded-fixture.ts';

useFreshBroker();

describe('the protocol, byte by byte', () => {
  test('INFO says what the broker is', async () => {
    const client = await RawNatsClient.open(broker().port);
    expect(client.info).toMatchObject({
      server_name: 'tokenrail-embedded',
      headers: true,
      jetstream: false,
      auth_required: false,
      max_payload: 1_048_576,
      proto: 1,
    });
    client.close();
  });

  test('SUB, PUB, MSG and HPUB, HMSG', async () => {
    const client = await open();
    client.send(
      'SUB a.* 1\r\nPUB a.b 5\r\nhello\r\nPUB a.c back 0\r\n\r\nHPUB a.d 17 19\r\nNATS/1.0\r\nx:y\r\n\r\nhi\r\n'.replace(
        '14 16',
        '17 19',
      ),
    );
    expect(await client.roundTrip()).toBe(
      'MSG a.b 1 5\r\nhello\r\nMSG a.c 1 back 0\r\n\r\nHMSG a.d 1 17 19\r\nNATS/1.0\r\nx:y\r\n\r\nhi\r\n',
    );
  });

  test('commands may be lower case, separated by tabs and many spaces, and end in a bare line feed', async () => {
    const client = await open();
    client.send('sub\ta  7\npub   a\t2\nok\r\n');
    expect(await client.roundTrip()).toBe('MSG a 7 2\r\nok\r\n');
  });

  test('a stream cut after every byte reads the same', async () => {
    const client = await open('');
    for (const byte of `${CONNECT}SUB cut 1\r\nPUB cut 11\r\nhello\r\nPING\r\nPUB cut r 0\r\n\r\n`)
      client.send(byte);
    expect(await client.roundTrip()).toBe('MSG cut 1 11\r\nhello\r\nPING\r\nMSG cut 1 r 0\r\n\r\n');
  });

  test('UNSUB with a count ends after that many in all', async () => {
    const client = await open();
    client.send('SUB m 1\r\nUNSUB 1 2\r\nPUB m 1\r\na\r\nPUB m 1\r\nb\r\nPUB m 1\r\nc\r\n');
    expect(await client.roundTrip()).toBe('MSG m 1 1\r\na\r\nMSG m 1 1\r\nb\r\n');
    client.send('SUB m 2\r\nPUB m 1\r\nd\r\nUNSUB 2 1\r\nPUB m 1\r\ne\r\n');
    expect(await client.roundTrip()).toBe('MSG m 2 1\r\nd\r\n');
    expect(broker().stats().subscriptions).toBe(0);
  });

  test('verbose clients get +OK, pedantic ones hear of bad subjects', async () => {
    const client = await open('CONNECT {"verbose":true,"pedantic":true}\r\n');
    client.send('SUB v 1\r\nPUB other 0\r\n\r\nPUB a..b 0\r\n\r\n');
    expect(await client.roundTrip()).toBe("+OK\r\n+OK\r\n+OK\r\n-ERR 'Invalid Publish Subject'\r\n+OK\r\n");
  });

  test('a client without echo does not hear itself, also in a queue group', async () => {
    const client = await open('CONNECT {"echo":false,"headers":true,"no_responders":true}\r\n');
    client.send('SUB e 1\r\nSUB e g 2\r\nSUB inbox 3\r\nPUB e inbox 0\r\n\r\n');
    expect(await client.roundTrip()).toBe('HMSG inbox 3 16 16\r\nNATS/1.0 503\r\n\r\n\r\n');
  });

  test('headers are cut off for a client that does not know them; it may not send any', async () => {
    const [knows, not] = [await open(), await open('CONNECT {}\r\n')];
    not.send('SUB h 1\r\n');
    await not.roundTrip();
    knows.send('HPUB h 12 14\r\nNATS/1.0\r\n\r\nhi\r\n');
    await knows.roundTrip();
    expect(await not.roundTrip()).toBe('MSG h 1 2\r\nhi\r\n');
    not.send('HPUB h 12 12\r\nNATS/1.0\r\n\r\n\r\n');
    await not.until(/-ERR 'Message Headers Not Supported'/);
    await not.untilClosed();
  });

  test('the same subscription id twice: the first stands', async () => {
    const client = await open();
    client.send('SUB a 1\r\nSUB a 1\r\nPUB a 0\r\n\r\n');
    expect(await client.roundTrip()).toBe('MSG a 1 0\r\n\r\n');
    expect(broker().stats().subscriptions).toBe(1);
  });

  test('a queue group member is picked by the injected choice', async () => {
    const counts: number[] = [];
    await restart({}, (count) => {
      counts.push(count);
      return 1;
    });
    const client = await open();
    client.send('SUB q g 1\r\nSUB q g 2\r\nSUB q g 3\r\nPUB q 0\r\n\r\nPUB q 0\r\n\r\n');
    expect(await client.roundTrip()).toBe('MSG q 2 0\r\n\r\nMSG q 2 0\r\n\r\n');
    expect(counts).toEqual([3, 3]);
  });

  test('bytes outside ASCII pass through subjects and payloads unchanged, valid UTF-8 or not', async () => {
    const client = await open();
    const subject = Buffer.from('模型.ü', 'utf8').toString('latin1');
    client.send(
      `SUB ${subject} 1\r\nPUB ${subject} 3\r\n\xff\xfe\x00\r\nSUB \xff\xfe 2\r\nPUB \xff\xfe 0\r\n\r\n`,
    );
    expect(await client.roundTrip()).toBe(`MSG ${subject} 1 3\r\n\xff\xfe\x00\r\nMSG \xff\xfe 2 0\r\n\r\n`);
  });
});

describe('JetStream', () => {
  test('requests to its API are refused in its own terms', async () => {
    const nc = await connectClient({ servers: broker().url });
    await expect(nc.jetstreamManager()).rejects.toMatchObject({ api_error: { code: 503, err_code: 10076 } });
    const answer = await nc.request('$JS.API.STREAM.CREATE.X', '{}', { timeout: 30_000 });
    expect(answer.json()).toMatchObject({
      error: { description: expect.stringContaining('no JetStream') as string },
    });
    await nc.close();
  });
});
