import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { choiceOf, deployment, serve, type Served } from './setup.ts';

interface ErrorAnswer {
  error: { message: string; type: string; param: string | null; code: string };
}

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

async function expectError(response: Response, status: number, code: string, param?: string | null): Promise<ErrorAnswer['error']> {
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const { error } = (await response.json()) as ErrorAnswer;
  expect([response.status, error.code]).toEqual([status, code]);
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect(error.message).toBeTypeOf('string');
  expect(error.message).not.toMatch(/\n\s+at |node_modules|\.ts:/);
  if (param !== undefined) expect(error.param).toBe(param);
  return error;
}

async function works(): Promise<void> {
  const response = await served.chat({});
  expect(response.status).toBe(200);
  expect(choiceOf(await response.json()).message?.content).toBe('Hello there.');
}

/** What a server answers to raw bytes. */
function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = '';
    socket.on('data', (data) => (text += data.toString()));
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

describe('bodies that are no requests', () => {
  it.each([
    ['broken JSON', '{"a":'],
    ['nothing', ''],
    ['an array', '[]'],
    ['a string', '"x"'],
    ['a number', '5'],
    ['null', 'null'],
    ['deep nesting', `{"messages":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['deeper objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
    ['a prototype', '{"__proto__":{"model":"tokenrail"},"constructor":1}'],
  ])('%s', async (_name, body) => {
    for (const path of ['/v1/chat/completions', '/v1/completions']) {
      await expectError(await served.post(path, body), 400, 'invalid_request');
    }
    await works();
  });

  it('bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{"model":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}')]);
    await expectError(await served.post('/v1/completions', bytes), 400, 'invalid_request');
  });

  it('other media types and compressed bodies', async () => {
    const path = '/v1/chat/completions';
    await expectError(await served.post(path, 'hi', { headers: { 'content-type': 'text/plain' } }), 415, 'unsupported_media_type');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    await expectError(await served.post(path, 'a=b', { headers: form }), 415, 'unsupported_media_type');
    const zipped = gzipSync('{"model":"tokenrail"}');
    await expectError(await served.post(path, zipped, { headers: { 'content-encoding': 'gzip' } }), 415, 'unsupported_media_type');
    await works();
  });

  it('more bytes than a body may have', async () => {
    const body = JSON.stringify({ model: 'tokenrail', prompt: 'x'.repeat(1_100_000) });
    await expectError(await served.post('/v1/completions', body), 413, 'payload_too_large');
    await works();
  });

  it('a charset and doubled keys are no mistakes', async () => {
    const body = '{"model":"nope","model":"tokenrail","messages":[{"role":"user","content":"Hi"}]}';
    const init = { headers: { 'content-type': 'application/json; charset=utf-8' } };
    expect((await served.post('/v1/chat/completions', body, init)).status).toBe(200);
  });
});

describe('paths and methods', () => {
  it('unknown paths are 404 in JSON', async () => {
    for (const path of ['/v1/nope', '/nope', '/', '/v1', '/v1/chat', `/v1/${'x'.repeat(5_000)}`]) {
      await expectError(await fetch(served.url + path), 404, 'route_not_found');
      await expectError(await served.post(path, {}), 404, 'route_not_found');
    }
  });

  it('wrong methods are 405 with what is allowed', async () => {
    const get = await fetch(`${served.url}/v1/chat/completions`);
    expect(get.headers.get('allow')).toBe('POST');
    await expectError(get, 405, 'method_not_allowed');
    const remove = await fetch(`${served.url}/v1/models/tokenrail`, { method: 'DELETE' });
    expect(remove.headers.get('allow')).toBe('GET');
    await expectError(remove, 405, 'method_not_allowed');
    await expectError(await served.post('/health', {}), 405, 'method_not_allowed');
  });

  it('broken URLs and bytes that are no HTTP', async () => {
    expect(await raw(served.url, 'GET /v1/models/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400 [^]*application\/json[^]*"code":"invalid_request"/,
    );
    expect(await raw(served.url, 'hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400 Bad Request\r\n[^]*"code":"invalid_request"/);
    const huge = `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(40_000)}\r\n\r\n`;
    expect(await raw(served.url, huge)).toMatch(/^HTTP\/1.1 431 [^]*"error"/);
    await works();
  });
});

describe('model names', () => {
  it.each([['unknown', 'gpt-4'], ['a wildcard', '*'], ['everything', '>'], ['a subject', 'a.b'], ['10 kB', 'm'.repeat(10_000)], ['CJK', '模型']])(
    '%s is 404 and reaches no subject',
    async (_name, model) => {
      const before = served.broker.published.length;
      for (const stream of [false, true]) {
        const error = await expectError(await served.chat({ model, stream }), 404, 'model_not_found', 'model');
        expect(error.message.length).toBeLessThan(200);
      }
      expect(served.broker.published.length).toBe(before);
    },
  );

  it('that are no names are 400 or 404, never 500', async () => {
    for (const model of [5, {}, [], '', null]) {
      const response = await served.chat({ model });
      expect([400, 404]).toContain(response.status);
      expect(((await response.json()) as ErrorAnswer).error.param).toBe('model');
    }
  });

  it('with odd characters are served when the configuration says so', async () => {
    const names = ['a.b', 'org/m', 'a b', '模型', '*'];
    const models = [
      { id: 1, name: 'a.b' },
      { id: 2, name: 'org/large *' },
    ];
    const odd = await serve({ gateway: { servedModelNames: names, deployment: { ...deployment, models } } });
    try {
      for (const model of names) {
        const response = await odd.chat({ model });
        expect([model, response.status]).toEqual([model, 200]);
        const card = await fetch(`${odd.url}/v1/models/${encodeURIComponent(model)}`);
        expect(await card.json()).toMatchObject({ id: model, object: 'model' });
      }
      expect(await (await fetch(`${odd.url}/v1/models/org/m`)).json()).toMatchObject({ id: 'org/m' });
    } finally {
      await odd.stop();
    }
  });
});

describe('limits of a request', () => {
  it('odd numbers answer within the request, naming the field', async () => {
    for (const field of ['max_tokens', 'max_completion_tokens']) {
      for (const value of [0, -1, 1.5, '5', 1e18, 2_147_483_647]) {
        const response = await served.chat({ [field]: value });
        expect(response.status).toBe(400);
        await response.text();
      }
    }
    await works();
  });

  it('prompt and answer must fit the smallest context', async () => {
    const fits = await served.post('/v1/completions', { model: 'tokenrail', prompt: Array(500).fill(5), max_tokens: 12 });
    expect(fits.status).toBe(200);
    const wide = await served.post('/v1/completions', { model: 'tokenrail', prompt: Array(500).fill(5), max_tokens: 13 });
    const error = await expectError(wide, 400, 'context_length_exceeded', 'prompt');
    expect(error.message).toContain("maximum context length is 512 tokens. However, you requested 513 tokens (500 in the prompt, 13 in the completion)");
    const long = await served.post('/v1/completions', { model: 'tokenrail', prompt: Array(512).fill(5) });
    await expectError(long, 400, 'context_length_exceeded', 'prompt');
    await expectError(await served.chat({ messages: [{ role: 'user', content: 'x '.repeat(100_000) }] }), 400, 'context_length_exceeded', 'messages');
  });

  it('without max_tokens an answer may fill the context', async () => {
    const before = served.home.admits.length;
    await served.post('/v1/completions', { model: 'tokenrail', prompt: [5, 6, 7] });
    expect(served.home.admits[before]?.init.limits.maxTokens).toBe(509);
  });

  it('prompts that are empty, or ids of no token', async () => {
    const prompts: unknown[] = ['', [], [''], [[]], [768], [-1], [1.5], [2 ** 40], ['a', 'b'], [[1], [2]], [5, 'a']];
    for (const prompt of prompts) {
      const response = await served.post('/v1/completions', { model: 'tokenrail', prompt });
      expect([JSON.stringify(prompt), response.status]).toEqual([JSON.stringify(prompt), 400]);
      expect(((await response.json()) as ErrorAnswer).error.param).toMatch(/^prompt/);
      await works();
    }
    await expectError(await served.chat({ messages: [] }), 400, 'invalid_request');
    for (const content of ['', ' ', '\u0000']) {
      const response = await served.chat({ messages: [{ role: 'user', content }] });
      expect([200, 400]).toContain(response.status);
      await response.text();
    }
    await works();
  });

  it('an unknown router is named', async () => {
    const error = await expectError(await served.chat({ router: 'nope' }), 400, 'invalid_request', 'router');
    expect(error.message).toContain('r-stitch, always-small');
    const before = served.home.admits.length;
    expect((await served.chat({ router: 'always-small' })).status).toBe(200);
    expect(served.home.admits[before]?.init.router).toBe('always-small');
  });

  it('what is not supported is refused by name, what says nothing passes', async () => {
    const refused: [Record<string, unknown>, string][] = [
      [{ response_format: { type: 'json_object' } }, 'response_format'],
      [{ response_format: { type: 'json_schema', json_schema: {} } }, 'response_format'],
      [{ tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'required' }, 'tools'],
      [{ logit_bias: { 5: 1 } }, 'logit_bias'],
      [{ n: 2 }, 'n'],
      [{ logprobs: true }, 'logprobs'],
    ];
    for (const [fields, param] of refused) {
      const error = await expectError(await served.chat(fields), 400, 'unsupported_parameter');
      expect(error.param).toMatch(new RegExp(`^${param}`));
    }
    const passed = { response_format: { type: 'text' }, tools: [], tool_choice: 'none', n: 1, logprobs: false };
    expect((await served.chat(passed)).status).toBe(200);
  });

  it('null is absent, and text parts are joined', async () => {
    const optional = ['temperature', 'top_p', 'top_k', 'min_p', 'seed', 'stop', 'max_tokens', 'stream', 'stream_options', 'user', 'n'];
    const before = served.home.admits.length;
    const nulls = await served.chat(Object.fromEntries(optional.map((name) => [name, null])));
    expect(nulls.status).toBe(200);
    await served.chat({ messages: [{ role: 'user', content: [{ type: 'text', text: 'H' }, { type: 'text', text: 'i' }] }] });
    await works();
    const [first, second, third] = served.home.admits.slice(before).map(({ tokens }) => tokens);
    expect(first).toEqual(third);
    expect(second).toEqual(third);
    const image = { type: 'image_url', image_url: { url: 'data:,' } };
    const refused = await served.chat({ messages: [{ role: 'user', content: [image] }] });
    expect(refused.status).toBe(400);
  });
});

describe('what clients may call themselves', () => {
  it('is echoed if it is sane and never becomes an id', async () => {
    const ask = (id: string): Promise<Response> => served.chat({}, { headers: { 'x-request-id': id } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('same.*.>')));
    const ids = new Set<unknown>();
    for (const answer of answers) {
      expect(answer.headers.get('x-request-id')).toBe('same.*.>');
      ids.add(((await answer.json()) as { id: string }).id);
    }
    expect(ids.size).toBe(20);
    expect((await ask('x'.repeat(4_096))).headers.get('x-request-id')).toBeNull();
    expect((await ask('a b')).headers.get('x-request-id')).toBeNull();
    const stream = await served.chat({ stream: true }, { headers: { 'x-request-id': 'streamed' } });
    expect(stream.headers.get('x-request-id')).toBe('streamed');
    await stream.text();
    expect(served.broker.published.some(({ subject }) => subject.includes('same'))).toBe(false);
  });
});

describe('API keys', () => {
  it('guard /v1 and nothing else', async () => {
    const guarded = await serve({ gateway: { apiKeys: ['secret'] } });
    try {
      await expectError(await guarded.chat({}), 401, 'unauthorized');
      for (const authorization of ['Bearer wrong', 'Basic secret', 'Bearer ', 'secret']) {
        await expectError(await guarded.chat({}, { headers: { authorization } }), 401, 'unauthorized');
      }
      expect((await guarded.chat({}, { headers: { authorization: 'Bearer secret' } })).status).toBe(200);
      await expectError(await fetch(`${guarded.url}/v1/models`), 401, 'unauthorized');
      for (const path of ['/health', '/health/ready', '/health_generate', '/version', '/metrics']) {
        expect((await fetch(guarded.url + path)).status).toBe(200);
      }
    } finally {
      await guarded.stop();
    }
  });
});

describe('the bus', () => {
  it('takes no prompt over its payload limit: 413 at once, and the next request works', async () => {
    const small = await serve({ home: { maxModelLenTokens: 1_000_000 } });
    try {
      small.broker.maxPayloadBytes = 65_536;
      const prompt = Array<number>(20_000).fill(5);
      const stream = await small.post('/v1/completions', { model: 'tokenrail', prompt, max_tokens: 1, stream: true });
      await expectError(stream, 413, 'payload_too_large');
      const next = await small.post('/v1/completions', { model: 'tokenrail', prompt: prompt.slice(0, 10_000), max_tokens: 1 });
      expect(next.status).toBe(200);
    } finally {
      await small.stop();
    }
  });

  it('with nobody on it is a 503 in JSON with Retry-After, streamed or not', async () => {
    const lonely = await serve({ gateway: { retryAfterSeconds: 7, maxModelLenTokens: 512 } });
    try {
      lonely.home.stop();
      for (const stream of [false, true]) {
        const response = await lonely.chat({ stream });
        expect(response.headers.get('retry-after')).toBe('7');
        await expectError(response, 503, 'model_unavailable');
      }
    } finally {
      await lonely.stop();
    }
  });

  it('disconnected is a 503 as well', async () => {
    const cut = await serve();
    try {
      cut.bus.setStatus('disconnected');
      await expectError(await cut.chat({}), 503, 'bus_unavailable');
      cut.bus.setStatus('connected');
      expect((await cut.chat({})).status).toBe(200);
    } finally {
      await cut.stop();
    }
  });

  it('is subscribed before the first request: 300 at once lose no token', async () => {
    const busy = await serve({ gateway: { maxInflight: 300 } });
    try {
      const answers = await Promise.all(Array.from({ length: 300 }, () => busy.chat({})));
      for (const answer of answers) expect(choiceOf(await answer.json()).message?.content).toBe('Hello there.');
    } finally {
      await busy.stop();
    }
  });
});
