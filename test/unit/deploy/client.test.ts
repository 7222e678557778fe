import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deployedModels, servedModel, streamChat } from '../../../deploy/client/chat-client.ts';
import type { Token } from '../../../deploy/client/chat-client.ts';
import { Palette, wantsColour } from '../../../deploy/client/palette.ts';
import { sseData } from '../../../deploy/client/sse.ts';
import { answerOf, demoProblems } from '../../../deploy/demo/problems.ts';

async function* pieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const at = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let from = 0;
  for (const to of at) {
    yield await Promise.resolve(bytes.subarray(from, to));
    from = to;
  }
}

async function collect(text: string, cuts: readonly number[] = []): Promise<string[]> {
  const events: string[] = [];
  for await (const data of sseData(pieces(new TextEncoder().encode(text), cuts))) events.push(data);
  return events;
}

describe('server-sent events', () => {
  test('data of several lines, comments, other fields and both line ends', async () => {
    const text = ': hello\n\nid: 1\ndata: a\ndata: b\n\ndata:c\r\n\r\n: keep-alive\n\ndata: [DONE]\n\n';
    expect(await collect(text)).toEqual(['a\nb', 'c', '[DONE]']);
  });

  test('an event that is not finished is not an event', async () => {
    expect(await collect('data: a\n\ndata: b')).toEqual(['a']);
  });

  test('do not depend on how the bytes are cut', async () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(10_000)), async (events, cuts) => {
        const text = events.map((event) => `data: ${event}\n\n`).join('');
        expect(await collect(text, cuts)).toEqual(events);
      }),
    );
  });
});

describe('colours', () => {
  test('are used at terminals, unless NO_COLOR says no; FORCE_COLOR says yes elsewhere', () => {
    expect(wantsColour({ isTTY: true }, {})).toBe(true);
    expect(wantsColour({}, {})).toBe(false);
    expect(wantsColour({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
    expect(wantsColour({ isTTY: true }, { NO_COLOR: '' })).toBe(true);
    expect(wantsColour({}, { FORCE_COLOR: '1' })).toBe(true);
    expect(wantsColour({ isTTY: true }, { FORCE_COLOR: '0' })).toBe(false);
  });

  test('differ by model and stay the same for one', () => {
    const palette = new Palette(true, ['small', 'large']);
    const [small, large] = [palette.paint('small', 'x'), palette.paint('large', 'x')];
    expect(small).not.toBe(large);
    expect(palette.paint('small', 'x')).toBe(small);
    expect(new Palette(false, ['small']).paint('small', 'x')).toBe('x');
    expect(palette.paint('small', '')).toBe('');
  });
});

describe('the problems of the demo', () => {
  test('are as many as asked, always the same, and of different kinds', () => {
    const problems = demoProblems(6);
    expect(problems).toHaveLength(6);
    expect(demoProblems(6)).toEqual(problems);
    expect(new Set(problems.map(({ question }) => question)).size).toBe(6);
  });

  test('are checked against the number the answer ends with', () => {
    expect(answerOf('3*4=12.\nThe answer is 12.')).toBe(12);
    expect(answerOf('The answer is -3.')).toBe(-3);
    expect(answerOf('no idea')).toBeUndefined();
  });
});

describe('a chat over HTTP', () => {
  /** A server that answers every request with what a test says. */
  async function serverOf(
    reply: (url: string) => { status: number; body: string; cut?: boolean },
  ): Promise<{ url: string; end: () => void }> {
    const server = createServer((request, response) => {
      const { status, body, cut = false } = reply(request.url ?? '');
      response.writeHead(status, { 'content-type': 'text/event-stream' });
      response.write(body, () => (cut ? response.destroy() : response.end()));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, end: () => server.close() };
  }

  const chunk = (content: string, models: string[], texts: string[]): string =>
    `data: ${JSON.stringify({ choices: [{ delta: { content }, tokenrail: { models, texts } }] })}\n\n`;
  const request = { model: 'm', messages: [{ role: 'user' as const, content: 'x' }] };

  test('tokens with their models; text that was held back goes to the last of them; usage', async () => {
    const usage = {
      prompt_tokens: 1,
      completion_tokens: 3,
      tokenrail: { tokens_by_model: { a: 2, b: 1 }, handoffs: 1, llm_ratio: 1 / 3 },
    };
    const body =
      chunk('Hi', ['a', 'b'], ['H', 'i']) +
      chunk(' é!', ['a'], [' é']) +
      `data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`;
    const server = await serverOf(() => ({ status: 200, body }));
    const tokens: Token[] = [];
    const result = await streamChat(server, request, (more) => tokens.push(...more));
    server.end();
    expect(tokens.map(({ model, text }) => `${model}:${text}`)).toEqual(['a:H', 'b:i', 'a: é', 'a:!']);
    expect(result).toEqual({
      promptTokens: 1,
      completionTokens: 3,
      tokensByModel: { a: 2, b: 1 },
      handoffs: 1,
      llmRatio: 1 / 3,
    });
  });

  test.each([
    [
      'an error status',
      { status: 429, body: '{"error":{"message":"full","code":"overloaded"}}' },
      { code: 'overloaded', message: 'full' },
    ],
    [
      'an error in the stream',
      { status: 200, body: 'data: {"error":{"message":"gone","code":"shutting_down"}}\n\n' },
      { code: 'shutting_down' },
    ],
    [
      'a page of something else',
      { status: 502, body: '<html>' },
      { code: 'internal', message: expect.stringContaining('502') as string },
    ],
    [
      'a stream that is cut',
      { status: 200, body: chunk('H', ['a'], ['H']), cut: true },
      { code: 'model_unavailable' },
    ],
    [
      'a stream that ends early',
      { status: 200, body: chunk('H', ['a'], ['H']) },
      { code: 'model_unavailable' },
    ],
  ])('%s', async (_name, reply, error) => {
    const server = await serverOf(() => reply);
    await expect(streamChat(server, request, () => {})).rejects.toMatchObject(error);
    server.end();
  });

  test('the names a server tells', async () => {
    const server = await serverOf((url) => ({
      status: url === '/health/ready' ? 503 : 200,
      body: url === '/health/ready' ? '{"models":{"s":{},"l":{}}}' : '{"data":[{"id":"tokenrail"}]}',
    }));
    expect(await servedModel(server)).toBe('tokenrail');
    expect(await deployedModels(server)).toEqual(['s', 'l']);
    server.end();
    expect(await deployedModels(server)).toEqual([]);
    await expect(servedModel(server)).rejects.toMatchObject({ code: 'model_unavailable' });
  });
});
