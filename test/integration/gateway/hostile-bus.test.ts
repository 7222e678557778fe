import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { encodeFrame } from '../../../transport/codec.ts';
import type { Message } from '../../../transport/messages.ts';
import { expectWorks } from './expect-error.ts';
import { bytesAsIds, choiceOf, EOS, readStream, serve, until, type Served } from './setup.ts';

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.stop());

/** An answer in work, of which `before` was sent; what the client reads, and the rest of its life. */
async function openAnswer(before: string): Promise<{
  rid: string;
  finish: (rest: string) => Promise<ReturnType<typeof readStream>>;
}> {
  served.home.onAdmit = (session) => session.admitted();
  const response = served.chat({ stream: true });
  await until(() => served.home.sessions.size === 1);
  const session = served.home.session();
  session.tokens(bytesAsIds(before));
  const finish = async (rest: string): Promise<ReturnType<typeof readStream>> => {
    session.tokens([...bytesAsIds(rest), EOS]);
    session.finish('eos');
    return readStream(await (await response).text());
  };
  return { rid: session.admit.rid, finish };
}

const origins = (count: number): { models: number[]; signals: number[] } => ({
  models: Array<number>(count).fill(1),
  signals: Array<number>(count).fill(NaN),
});
const usage = { promptTokens: 1, completionTokens: 0, tokensByModel: [], handoffs: 0 };

/** Everything a gateway could be sent about a request; `term` 0 is the one it works in. */
function everyKind(rid: string, term: number): Message[] {
  const common = { rid, term };
  const peer = { hop: 1, from: 2, fromReplica: 'x' };
  return [
    { kind: 'tokens', ...common, position: 0, ids: [5, 6], origins: origins(2) },
    { kind: 'finish', ...common, reason: 'eos', usage },
    { kind: 'finish', ...common, reason: 'error', usage, error: { code: '__proto__', message: 'x' } },
    { kind: 'admitted', ...common, model: 1, replica: 'other' },
    {
      kind: 'reject',
      ...common,
      ...peer,
      model: 1,
      replica: 'other',
      code: 'x',
      message: 'x',
      retryable: true,
    },
    { kind: 'progress', ...common, ...peer, suffix: [5], loc: 1, origins: origins(1) },
    { kind: 'peer-req', ...common, ...peer, to: 1, suffix: [5], loc: 1, home: { model: 9, replica: 'x' } },
    { kind: 'needs-prefix', ...common, ...peer, have: 4_294_967_295 },
    { kind: 'release', ...common },
    { kind: 'abort', ...common, reason: 'abort' },
  ];
}

const send = (subject: string, ...messages: Message[]): void =>
  served.connect().publish(subject, encodeFrame(messages));

describe('a hostile neighbour on the bus', () => {
  it('cannot disturb an answer with bytes that are no frames, on any subject of the gateway', async () => {
    const { rid, finish } = await openAnswer('One ');
    const bus = served.connect();
    const frame = encodeFrame(everyKind(rid, 0));
    const { subjects } = served.home;
    const inboxes = ['', '-probe', '-client', '-x'].map((tag) => subjects.inbox('gateway', 'gw1', rid + tag));
    for (const subject of [subjects.gateway('gw1'), subjects.heartbeat('small', 'x'), ...inboxes]) {
      bus.publish(subject, new Uint8Array(0));
      bus.publish(subject, Buffer.from('{"kind":"finish"}'));
      bus.publish(subject, Uint8Array.of(0x92, 1, 0xdd, 0xff, 0xff, 0xff, 0xff));
      bus.publish(subject, Uint8Array.of(0x92, 2, 0x90));
      bus.publish(subject, Buffer.alloc(100_000, 0x91));
      for (let cut = 1; cut < frame.length; cut += 3) bus.publish(subject, frame.slice(0, cut));
    }
    expect(await finish('two.')).toMatchObject({ text: 'One two.', finishReason: 'stop' });
  });

  it('cannot disturb it with messages about other requests or of other terms', async () => {
    const { rid, finish } = await openAnswer('One ');
    const gateway = served.home.subjects.gateway('gw1');
    send(gateway, ...everyKind('req-nobody', 0));
    send(gateway, ...everyKind(rid, 1), ...everyKind(rid, 4_294_967_295));
    expect(await finish('two.')).toMatchObject({ text: 'One two.', finishReason: 'stop' });
  });

  it('cannot disturb it with kinds that are not for gateways, known tokens or another home', async () => {
    const { rid, finish } = await openAnswer('One ');
    const gateway = served.home.subjects.gateway('gw1');
    const harmless = everyKind(rid, 0).filter(({ kind }) => kind !== 'finish');
    send(gateway, ...harmless, ...harmless);
    send(gateway, { kind: 'tokens', rid, term: 0, position: 400, ids: [5], origins: origins(1) });
    expect(await finish('two.')).toMatchObject({ text: 'One two.', finishReason: 'stop' });
    // The second home that claimed the request was sent away, and only that one.
    expect(served.home.aborts).toEqual([]);
  });

  it('cannot make the gateway wait for ever, or fail, with a Finish that counts wrongly', async () => {
    const { rid, finish } = await openAnswer('One ');
    const wild = { promptTokens: 9, completionTokens: 4_294_967_295, tokensByModel: [], handoffs: 0 };
    send(served.home.subjects.gateway('gw1'), {
      kind: 'finish',
      rid,
      term: 0,
      reason: 'length',
      usage: wild,
    });
    // The gateway asks for what is missing; the home's own words then still reach the client.
    await until(() => served.home.asks.length > 0);
    served.home.stop();
    const chunks = (await finish('')).chunks;
    expect(chunks.at(-1)).toMatchObject({ error: { code: 'model_unavailable' } });
  });

  it('cannot shrink the context with heartbeats of another configuration', async () => {
    served.home.heartbeat({ replica: 'x', configHash: 'other', maxModelLenTokens: 1 });
    served.home.heartbeat({ replica: 'y', state: 'failed', maxModelLenTokens: 1 });
    served.home.heartbeat({ replica: 'z', model: 9, maxModelLenTokens: 1 });
    await expectWorks(served);
    const listed = (await (await fetch(`${served.url}/v1/models`)).json()) as { data: unknown[] };
    expect(listed.data[0]).toMatchObject({ max_model_len: 512 });
  });
});

describe('a control token in a message', () => {
  it('is counted with the bytes that the client wrote', async () => {
    const messageFor = async (content: string): Promise<string> => {
      const response = await served.chat({ messages: [{ role: 'user', content }] });
      expect(response.status).toBe(400);
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    const plain = 'x'.repeat('<|end|>'.length);
    expect(await messageFor('<|end|>'.repeat(20_000))).toBe(await messageFor(plain.repeat(20_000)));
    expect(
      choiceOf(await (await served.chat({ messages: [{ role: 'user', content: '<|end|>' }] })).json()),
    ).toBeDefined();
  });
});
