import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, expectWorks, type ErrorAnswer } from './expect-error.ts';
import { deployment, serve, type Served } from './setup.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

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
    ['a prototype', '{"__proto__":{"model":"tokenrail","messages":[]}}'],
  ])('%s', async (name, body) => {
    for (const path of ['/v1/chat/completions', '/v1/completions']) {
      const code = name === 'a prototype' ? 'unsupported_parameter' : 'invalid_request';
      await expectError(await served.post(path, body), 400, code);
    }
    await expectWorks(served);
  });

  it('bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('{"model":"'), Buffer.of(0xff, 0xfe), Buffer.from('"}')]);
    await expectError(await served.post('/v1/completions', bytes), 400, 'invalid_request');
  });

  it('other media types and compressed bodies', async () => {
    const path = '/v1/chat/completions';
    await expectError(
      await served.post(path, 'hi', { headers: { 'content-type': 'text/plain' } }),
      415,
      'unsupported_media_type',
    );
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    await expectError(await served.post(path, 'a=b', { headers: form }), 415, 'unsupported_media_type');
    const zipped = gzipSync('{"model":"tokenrail"}');
    await expectError(
      await served.post(path, zipped, { headers: { 'content-encoding': 'gzip' } }),
      415,
      'unsupported_media_type',
    );
    await expectWorks(served);
  });

  it('more bytes than a body may have: the answer names the limit and what sets it', async () => {
    const body = JSON.stringify({ model: 'tokenrail', prompt: 'x'.repeat(1_100_000) });
    const error = await expectError(await served.post('/v1/completions', body), 413, 'payload_too_large');
    expect(error.message).toMatch(/\b1048576 bytes \(advanced\.max-body-bytes\)/);
    await expectWorks(served);
  });

  it('more bytes than another limit allows, without saying how many come', async () => {
    const small = await serve({ gateway: { bodyLimitBytes: 2_000 } });
    try {
      const body = new Blob(['x'.repeat(3_000)]).stream();
      const init = { headers: { 'content-type': 'application/json' }, duplex: 'half' as const };
      const response = await fetch(`${small.url}/v1/completions`, { method: 'POST', body, ...init });
      const error = await expectError(response, 413, 'payload_too_large');
      expect(error.message).toContain('2000 bytes');
    } finally {
      await small.stop();
    }
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
    expect(
      await raw(served.url, 'GET /v1/models/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 400 [^]*application\/json[^]*"code":"invalid_request"/);
    expect(await raw(served.url, 'hello\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400 Bad Request\r\n[^]*"code":"invalid_request"/,
    );
    const huge = `GET / HTTP/1.1\r\nhost: x\r\na: ${'b'.repeat(40_000)}\r\n\r\n`;
    expect(await raw(served.url, huge)).toMatch(/^HTTP\/1.1 431 [^]*"error"/);
    await expectWorks(served);
  });
});

describe('model names', () => {
  it.each([
    ['unknown', 'gpt-4'],
    ['a wildcard', '*'],
    ['everything', '>'],
    ['a subject', 'a.b'],
    ['10 kB', 'm'.repeat(10_000)],
    ['CJK', '模型'],
  ])('%s is 404 and reaches no subject', async (_name, model) => {
    const before = served.broker.published.length;
    for (const stream of [false, true]) {
      const error = await expectError(await served.chat({ model, stream }), 404, 'model_not_found', 'model');
      expect(error.message.length).toBeLessThan(200);
    }
    expect(served.broker.published.length).toBe(before);
  });

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
