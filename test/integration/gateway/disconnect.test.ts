import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytesAsIds, serve, until, type Served } from './setup.ts';

let served: Served;
beforeEach(async () => {
  // One place: only a freed one lets the next request start.
  served = await serve({ gateway: { maxInflight: 1 }, home: { auto: false } });
});
afterEach(() => served.stop());

/** Sends a chat request over a bare socket; resolves when the head of the stream, or nothing, may have come. */
async function rawChat(body: Record<string, unknown>): Promise<{ socket: Socket; received: () => string }> {
  const { hostname, port } = new URL(served.url);
  const json = JSON.stringify({ model: 'tokenrail', messages: [{ role: 'user', content: 'Hi' }], ...body });
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = '';
  socket.on('data', (data) => (text += data.toString()));
  socket.on('error', () => {});
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}`;
  socket.write(`${head}\r\n\r\n${json}`);
  await until(() => served.home.admits.length === 1);
  return { socket, received: () => text };
}

async function expectFreed(): Promise<void> {
  await until(() => served.home.aborts.length === 1);
  expect(served.home.aborts).toMatchObject([{ reason: 'abort' }]);
  const next = await served.chat({ stream: true });
  expect(next.status).toBe(200);
  await until(() => served.home.admits.length === 2);
  const metrics = await (await fetch(`${served.url}/metrics`)).text();
  expect(metrics).toContain(
    'tokenrail_request_success_total{model_name="tokenrail",finished_reason="abort"} 1',
  );
  expect(metrics).toContain('tokenrail_gateway_requests_running 1');
  await next.body?.cancel();
}

const leaving: [string, (socket: Socket) => void][] = [
  ['FIN', (socket) => socket.destroy()],
  ['RST', (socket) => socket.resetAndDestroy()],
  ['half-close', (socket) => socket.end()],
];

describe.each(leaving)('a client that leaves with %s', (_name, leave) => {
  it('frees its place in the middle of a stream', async () => {
    const { socket, received } = await rawChat({ stream: true });
    served.home.session().tokens(bytesAsIds('abc'));
    await until(() => received().includes('abc'));
    leave(socket);
    await expectFreed();
  });

  it('frees its place while it waits for a whole answer', async () => {
    const { socket } = await rawChat({});
    leave(socket);
    await expectFreed();
  });
});

describe('a client that leaves the queue', () => {
  it('is forgotten at once and never reaches a home', async () => {
    const first = await served.chat({ stream: true });
    const controller = new AbortController();
    const waiting = served.chat({}, { signal: controller.signal }).catch(() => 'left');
    const gauge = async (): Promise<string> => (await fetch(`${served.url}/metrics`)).text();
    await until(async () => (await gauge()).includes('tokenrail_gateway_requests_queued 1'));
    controller.abort();
    expect(await waiting).toBe('left');
    await until(async () => (await gauge()).includes('tokenrail_gateway_requests_queued 0'));
    served.home.session().finish('eos');
    await first.text();
    expect(served.home.admits).toHaveLength(1);
  });
});

describe('a client that does not read', () => {
  it('is cut off when too much is unsent', async () => {
    await served.stop();
    const slow = await serve({
      gateway: { maxStreamBufferBytes: 50_000 },
      home: { auto: false, maxModelLenTokens: 10_000_000 },
    });
    served = slow;
    const { socket } = await rawChat({ stream: true });
    socket.pause();
    const piece = bytesAsIds('x'.repeat(50_000));
    const session = slow.home.session();
    await until(() => {
      if (!session.ended) session.tokens(piece);
      return slow.home.aborts.length > 0;
    });
    expect(slow.home.aborts).toMatchObject([{ reason: 'abort' }]);
    socket.destroy();
  });
});
