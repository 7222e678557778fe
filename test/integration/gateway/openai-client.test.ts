import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bytesAsIds, EOS, serve, type Served } from './setup.ts';

const text = 'Plain words, ďábel and 🙂.';
let served: Served;
let client: OpenAI;

beforeEach(async () => {
  served = await serve({
    gateway: { apiKeys: ['key-1', 'key-2'] },
    home: { answer: () => [...bytesAsIds(text), EOS] },
  });
  client = new OpenAI({ baseURL: `${served.url}/v1`, apiKey: 'key-2', maxRetries: 0 });
});
afterEach(() => served.stop());

const question = { model: 'tokenrail', messages: [{ role: 'user' as const, content: 'Hi' }] };

describe("OpenAI's own client", () => {
  it('reads a whole answer and a stream alike', async () => {
    const whole = await client.chat.completions.create(question);
    expect(whole.choices[0]?.message).toEqual({ role: 'assistant', content: text, refusal: null });
    expect(whole.usage?.completion_tokens).toBe(bytesAsIds(text).length + 1);
    const stream = client.chat.completions.stream({ ...question, stream_options: { include_usage: true } });
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe(text);
    expect(final.choices[0]?.finish_reason).toBe('stop');
    expect(final.usage).toEqual(whole.usage);
  });

  it('reads completions and lists models', async () => {
    const completion = await client.completions.create({ model: 'pair', prompt: 'Hi', max_tokens: 5 });
    expect(completion.choices[0]).toMatchObject({ text: 'Plain', finish_reason: 'length' });
    const models = await client.models.list();
    const routed = ['tokenrail', 'pair'].flatMap((name) => [`${name}:r-stitch`, `${name}:always-small`]);
    expect(models.data.map(({ id }) => id)).toEqual(['tokenrail', 'pair', ...routed]);
    for (const { id } of models.data) expect((await client.models.retrieve(id)).id).toBe(id);
  });

  it('throws its own error classes', async () => {
    const unknown = { ...question, model: 'nope' };
    await expect(client.chat.completions.create(unknown)).rejects.toThrow(OpenAI.NotFoundError);
    await expect(client.chat.completions.create({ ...unknown, stream: true })).rejects.toThrow(
      OpenAI.NotFoundError,
    );
    await expect(client.models.retrieve('nope')).rejects.toThrow(OpenAI.NotFoundError);
    await expect(client.chat.completions.create({ ...question, temperature: 9 })).rejects.toThrow(
      OpenAI.BadRequestError,
    );
    const stranger = new OpenAI({ baseURL: `${served.url}/v1`, apiKey: 'wrong', maxRetries: 0 });
    await expect(stranger.models.list()).rejects.toThrow(OpenAI.AuthenticationError);
    served.home.onAdmit = (session) =>
      session.reject({ code: 'overloaded', message: 'full', retryable: true });
    await expect(client.chat.completions.create(question)).rejects.toThrow(OpenAI.RateLimitError);
    const error: unknown = await client.chat.completions.create(unknown).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      status: 404,
      code: 'model_not_found',
      param: 'model',
      type: 'not_found_error',
    });
  });

  it('throws for an error in the middle of a stream', async () => {
    served.home.onAdmit = (session) => {
      session.admitted();
      session.tokens(bytesAsIds('a'));
      session.finish('error', { code: 'engine_failed', message: 'the engine failed' });
    };
    const stream = await client.chat.completions.create({ ...question, stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) expect(chunk.object).toBe('chat.completion.chunk');
    };
    await expect(read()).rejects.toThrow(/the engine failed/);
  });

  it('aborts a stream, which frees the home', async () => {
    served.home.answer = () => bytesAsIds('x'.repeat(400));
    const stream = await client.chat.completions.create({ ...question, stream: true, max_tokens: 400 });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    while (served.home.aborts.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(served.home.aborts[0]).toMatchObject({ reason: 'abort' });
  });
});
