import { Packr, Unpackr } from 'msgpackr';
import { afterEach, describe, expect, it } from 'vitest';
import type { LocalBus } from '../../helpers/local-bus.ts';
import { bytesAsIds, choiceOf, hello, serve, until, type ServeOptions, type Served } from './setup.ts';

const packr = new Packr({ useRecords: false });
const unpackr = new Unpackr({ useRecords: false });
const request = { model: 'tokenrail', messages: [hello] };

let served: Served | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

class Client {
  readonly bus: LocalBus;
  readonly messages: Uint8Array[] = [];
  private readonly inbox: string;
  private readonly subscription: { unsubscribe(): void };

  constructor(server: Served, inbox = 'clients.one') {
    this.inbox = inbox;
    this.bus = server.connect();
    this.subscription = this.bus.subscribe(inbox, ({ payload }) => this.messages.push(payload));
  }

  ask(payload: Uint8Array | object, reply: string | null = this.inbox): void {
    const bytes = payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload));
    this.bus.publish('test.requests', bytes, reply === null ? {} : { reply });
  }

  leave(): void {
    this.subscription.unsubscribe();
  }

  async untilEnd(): Promise<void> {
    await until(() => this.messages.at(-1)?.byteLength === 0);
  }

  json(): Record<string, unknown>[] {
    return this.messages
      .filter(({ byteLength }) => byteLength > 0)
      .map((bytes) => JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>);
  }
}

async function start(options: ServeOptions = {}): Promise<{ server: Served; client: Client }> {
  served = await serve(options);
  return { server: served, client: new Client(served) };
}

describe('a client on the bus', () => {
  it('gets the chunks of the stream as JSON, then an empty message', async () => {
    const { client } = await start();
    client.ask({ ...request, stream_options: { include_usage: true } });
    await client.untilEnd();
    const chunks = client.json();
    expect(
      chunks
        .map((chunk) =>
          (chunk['choices'] as unknown[]).length === 1 ? (choiceOf(chunk).delta?.content ?? '') : '',
        )
        .join(''),
    ).toBe('Hello there.');
    expect(choiceOf(chunks[0]).delta).toEqual({ role: 'assistant', content: '' });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 13 } });
    expect(client.messages.filter(({ byteLength }) => byteLength === 0)).toHaveLength(1);
  });

  it('gets msgpack for msgpack, and completions for a prompt', async () => {
    const { client } = await start();
    client.ask(packr.pack({ model: 'pair', prompt: 'Hi', seed: 5 }));
    await client.untilEnd();
    const chunks = client.messages
      .slice(0, -1)
      .map((bytes) => unpackr.unpack(bytes) as Record<string, unknown>);
    expect(chunks.map((chunk) => choiceOf(chunk).text).join('')).toBe('Hello there.');
    expect(chunks[0]).toMatchObject({ object: 'text_completion', model: 'pair' });
    expect(served?.home.admits[0]?.init.sampling.seed).toBe(5);
  });

  it('gets one object and nothing else with stream: false', async () => {
    const { client, server } = await start();
    client.ask({ ...request, stream: false });
    await until(() => client.messages.length > 0);
    await client.bus.flush();
    await server.bus.flush();
    expect(client.json()).toMatchObject([
      { object: 'chat.completion', choices: [{ message: { content: 'Hello there.' } }] },
    ]);
    expect(client.messages).toHaveLength(1);
  });

  it('gets errors as objects', async () => {
    const { client } = await start({ gateway: { bodyLimitBytes: 10_000 } });
    const cases: [Uint8Array | object, string][] = [
      [{ ...request, model: 'nope' }, 'model_not_found'],
      [{ ...request, n: 3 }, 'unsupported_parameter'],
      [{ model: 'tokenrail' }, 'invalid_request'],
      [{ ...request, prompt: 'both' }, 'invalid_request'],
      [Buffer.from('{"model":'), 'invalid_request'],
      [Buffer.from('{' + ' '.repeat(20_000)), 'payload_too_large'],
    ];
    for (const [payload, code] of cases) {
      client.messages.length = 0;
      client.ask(payload);
      await client.untilEnd();
      expect(client.json()).toMatchObject([{ error: { code } }]);
    }
    client.messages.length = 0;
    client.ask({ ...request, stream: false, model: 'nope' });
    await until(() => client.messages.length > 0);
    await client.bus.flush();
    expect(client.json()).toMatchObject([{ error: { code: 'model_not_found' } }]);
    expect(client.messages).toHaveLength(1);
  });

  it('whose bytes are garbage or hostile hurts nobody', async () => {
    const { client } = await start();
    const hostile = [
      Buffer.alloc(0),
      Buffer.from('hello'),
      Buffer.of(0xdd, 0xff, 0xff, 0xff, 0xff),
      Buffer.of(0xd4, 0x72, 0x40),
      packr.pack([1, 2, 3]),
      packr.pack({ when: new Date(0) }),
      Buffer.alloc(5_000, 0x91),
    ];
    for (const bytes of hostile) {
      client.messages.length = 0;
      client.ask(bytes);
      await client.untilEnd();
      const [first] = client.messages;
      expect(unpackr.unpack(first as Uint8Array)).toMatchObject({ error: { code: 'invalid_request' } });
    }
    client.messages.length = 0;
    client.ask({ ...request, stream: false });
    await until(() => client.messages.length > 0);
    expect(client.json()[0]).toMatchObject({ object: 'chat.completion' });
  });

  it('that left is noticed with the next message: the home is freed', async () => {
    const { client, server } = await start({ home: { auto: false } });
    client.ask(request);
    await until(() => server.home.admits.length === 1 && client.messages.length > 0);
    client.leave();
    server.home.session().tokens(bytesAsIds('a'));
    await until(() => server.home.aborts.length === 1);
    expect(server.home.aborts).toMatchObject([{ reason: 'abort' }]);
  });

  it('needs a reply subject that is its own', async () => {
    const { client, server } = await start();
    client.ask(request, null);
    for (const reply of [
      'test.model.small',
      'test.gw.gw1',
      'test.requests',
      '$SYS.x',
      'a..b',
      'a.*',
      'test.inbox.gateway.gw1.x',
    ]) {
      client.ask(request, reply);
    }
    const own = new Client(server, 'test.inbox.client.me.1');
    own.ask({ ...request, stream: false });
    await until(() => own.messages.length === 1);
    expect(server.home.admits).toHaveLength(1);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('tokenrail_bus_messages_dropped_total{reason="no_reply_subject"} 1');
    expect(metrics).toContain('tokenrail_bus_messages_dropped_total{reason="reply_subject_refused"} 7');
  });

  it('shows its key in the request where keys are configured', async () => {
    const { client } = await start({ gateway: { apiKeys: ['secret'] } });
    client.ask({ ...request, stream: false });
    client.ask({ ...request, stream: false, api_key: 'wrong' });
    client.ask({ ...request, stream: false, api_key: 'secret' });
    await until(() => client.messages.length === 3);
    expect(client.json()).toMatchObject([
      { error: { code: 'unauthorized' } },
      { error: { code: 'unauthorized' } },
      { object: 'chat.completion' },
    ]);
  });

  it('gets the error and the terminator when the server shuts down', async () => {
    const { client, server } = await start({ home: { auto: false } });
    client.ask(request);
    await until(() => server.home.admits.length === 1);
    server.home.session().tokens([...bytesAsIds('x'), 30]);
    await server.gateway.drain(10);
    await client.untilEnd();
    expect(client.json().at(-1)).toMatchObject({ error: { code: 'shutting_down' } });
  });
});
