import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError } from './expect-error.ts';
import { choiceOf, serve, type Served } from './setup.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

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
      const stream = await small.post('/v1/completions', {
        model: 'tokenrail',
        prompt,
        max_tokens: 1,
        stream: true,
      });
      await expectError(stream, 413, 'payload_too_large');
      const next = await small.post('/v1/completions', {
        model: 'tokenrail',
        prompt: prompt.slice(0, 10_000),
        max_tokens: 1,
      });
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
      for (const answer of answers)
        expect(choiceOf(await answer.json()).message?.content).toBe('Hello there.');
    } finally {
      await busy.stop();
    }
  });
});
