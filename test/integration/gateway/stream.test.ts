import { afterEach, describe, expect, it } from 'vitest';
import { bytesAsIds, choiceOf, EOS, parseSse, readStream, serve, type Served } from './setup.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.stop();
  served = undefined;
});

async function bothModes(
  server: Served,
  body: Record<string, unknown>,
): Promise<{ text: string; reason: string | null }[]> {
  const streamed = readStream(await (await server.chat({ ...body, stream: true })).text());
  const whole = choiceOf(await (await server.chat(body)).json());
  return [
    { text: streamed.text, reason: streamed.finishReason },
    { text: whole.message?.content ?? '', reason: whole.finish_reason },
  ];
}

describe('text', () => {
  it('is never split within a character, streamed or not', async () => {
    const text = 'ď 北 🙂 👨‍👩‍👧 שלום';
    served = await serve({ home: { answer: () => [...bytesAsIds(text), EOS] } });
    expect(await bothModes(served, {})).toEqual([
      { text, reason: 'stop' },
      { text, reason: 'stop' },
    ]);
  });

  it('is the same in both modes where max_tokens cuts a character in two', async () => {
    served = await serve({ home: { answer: () => [...bytesAsIds('ok🙂'), EOS] } });
    for (const max of [3, 4, 5]) {
      const [streamed, whole] = await bothModes(served, { max_tokens: max });
      expect(streamed).toEqual({ text: 'ok', reason: 'length' });
      expect(whole).toEqual(streamed);
    }
    expect((await bothModes(served, { max_tokens: 6 }))[0]).toEqual({ text: 'ok🙂', reason: 'length' });
  });

  it('ends exactly at a stop string that spans tokens, in both modes', async () => {
    served = await serve({ home: { answer: () => [...bytesAsIds('ABC DEFGHIJ K'), EOS] } });
    expect(await bothModes(served, { stop: ['DEFGHIJ'] })).toEqual([
      { text: 'ABC ', reason: 'stop' },
      { text: 'ABC ', reason: 'stop' },
    ]);
    expect((await bothModes(served, { stop: 'HIJX' }))[1]).toEqual({ text: 'ABC DEFGHIJ K', reason: 'stop' });
    const answer = (await (await served.chat({ stop: ['DEFGHIJ'] })).json()) as {
      usage: { completion_tokens: number };
    };
    expect(choiceOf(answer).stop_reason).toBe('DEFGHIJ');
    expect(answer.usage.completion_tokens).toBe(11);
  });

  it('gives the true finish_reason around the end of the answer', async () => {
    served = await serve({ home: { answer: () => [...bytesAsIds('abcde'), EOS] } });
    const expected = [
      [1, 'a', 'length'],
      [4, 'abcd', 'length'],
      [5, 'abcde', 'length'],
      [6, 'abcde', 'stop'],
      [100, 'abcde', 'stop'],
    ] as const;
    for (const [max, text, reason] of expected) {
      expect(await bothModes(served, { max_tokens: max })).toEqual([
        { text, reason },
        { text, reason },
      ]);
    }
    const one = (await (await served.chat({ max_tokens: 1 })).json()) as {
      usage: { completion_tokens: number };
    };
    expect(one.usage.completion_tokens).toBe(1);
  });
});

describe('chunks', () => {
  it('have the shape that clients of OpenAI expect', async () => {
    served = await serve({ home: { writer: (index) => (index % 4 === 3 ? 2 : 1) } });
    const response = await served.chat({ stream: true, stream_options: { include_usage: true } });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = parseSse(await response.text());
    expect(events.at(-1)).toEqual({ done: true });
    const chunks = events.slice(0, -1).map(({ data }) => data ?? {});
    const [first] = chunks;
    expect(first).toMatchObject({ object: 'chat.completion.chunk', model: 'tokenrail' });
    expect(first?.['id']).toMatch(/^chatcmpl-[A-Za-z0-9]{20}$/);
    expect(Number.isInteger(first?.['created'])).toBe(true);
    for (const chunk of chunks) {
      expect([chunk['id'], chunk['created'], chunk['model']]).toEqual([
        first?.['id'],
        first?.['created'],
        'tokenrail',
      ]);
    }
    const usage = chunks.pop();
    expect(choiceOf(first).delta).toEqual({ role: 'assistant', content: '' });
    const choices = chunks.map(choiceOf);
    expect(choices.every(({ index }) => index === 0)).toBe(true);
    expect(choices.slice(0, -1).every((choice) => choice.finish_reason === null)).toBe(true);
    expect(choices.at(-1)).toMatchObject({ delta: {}, finish_reason: 'stop' });
    expect(
      choices.slice(1, -1).every(({ delta }) => delta?.content !== '' && delta?.role === undefined),
    ).toBe(true);
    expect(chunks.every((chunk) => chunk['usage'] === null)).toBe(true);
    const promptTokens = served.home.admits[0]?.tokens.length ?? 0;
    expect(usage).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: promptTokens,
        completion_tokens: 13,
        total_tokens: promptTokens + 13,
        tokenrail: { tokens_by_model: { small: 10, large: 3 }, handoffs: 0, llm_ratio: 3 / 13 },
      },
    });
  });

  it('have no usage unless it is asked for, and completions have text', async () => {
    served = await serve();
    const body = { model: 'pair', prompt: 'Hi', stream: true };
    const { chunks, text } = readStream(await (await served.post('/v1/completions', body)).text());
    expect(text).toBe('Hello there.');
    expect(chunks.every((chunk) => chunk['object'] === 'text_completion' && chunk['model'] === 'pair')).toBe(
      true,
    );
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false);
    expect(chunks[0]?.['id']).toMatch(/^cmpl-/);
  });

  it('carry token ids, writers and signals with return_token_ids', async () => {
    const ids = [...bytesAsIds('a🙂'), EOS];
    served = await serve({ home: { answer: () => ids, writer: (index) => (index === 1 ? 2 : 1) } });
    const streamed = await served.chat({ stream: true, return_token_ids: true });
    const { chunks } = readStream(await streamed.text());
    const prompt = served.home.admits[0]?.tokens;
    expect(chunks.filter((chunk) => 'prompt_token_ids' in chunk)).toEqual([chunks[0]]);
    expect(chunks[0]?.['prompt_token_ids']).toEqual(prompt);
    expect(chunks.flatMap((chunk) => choiceOf(chunk).token_ids ?? [])).toEqual(ids);
    const whole = (await (await served.chat({ return_token_ids: true })).json()) as Record<string, unknown>;
    expect(whole['prompt_token_ids']).toEqual(prompt);
    expect(choiceOf(whole)).toMatchObject({
      token_ids: ids,
      tokenrail: {
        models: ['small', 'large', 'small', 'small', 'small', 'small'],
        signals: [0, 1, 2, 3, 4, 5].map((index) => index / 64),
        texts: ['a', '', '', '', '🙂', ''],
      },
    });
    const completion = await served.post('/v1/completions', {
      model: 'tokenrail',
      prompt: [5, 6],
      return_token_ids: true,
    });
    expect(choiceOf(await completion.json())).toMatchObject({ prompt_token_ids: [5, 6], token_ids: ids });
  });
});

describe('silence', () => {
  it('is filled with comments, which never follow [DONE]', async () => {
    served = await serve({ gateway: { keepAliveMs: 20 }, home: { auto: false } });
    const { home } = served;
    const response = await served.chat({ stream: true });
    // Headers are here, the home has said nothing but "admitted".
    expect(response.status).toBe(200);
    const reader = (response.body as ReadableStream<Uint8Array>)
      .pipeThrough(new TextDecoderStream())
      .getReader();
    let text = '';
    while (!text.includes(': keep-alive\n\n: keep-alive\n\n')) text += (await reader.read()).value ?? '';
    home.session().tokens([...bytesAsIds('ok'), EOS]);
    home.session().finish('eos');
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
    expect(readStream(text).text).toBe('ok');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('of the whole house still opens the stream of a request that queues', async () => {
    served = await serve({ gateway: { keepAliveMs: 20, maxInflight: 1 }, home: { auto: false } });
    const first = await served.chat({ stream: true });
    const queued = await served.chat({ stream: true });
    expect(queued.status).toBe(200);
    expect(served.home.admits).toHaveLength(1);
    served.home.session(0).tokens([EOS]);
    served.home.session(0).finish('eos');
    await first.text();
    while (served.home.admits.length < 2) await new Promise((resolve) => setImmediate(resolve));
    served.home.session(1).tokens([...bytesAsIds('b'), EOS]);
    served.home.session(1).finish('eos');
    const events = parseSse(await queued.text());
    expect(events[0]).toEqual({ comment: 'keep-alive' });
    expect(readStream(events.length > 0 ? toText(events) : '').text).toBe('b');
  });
});

describe('an error after the stream began', () => {
  it('is an error object, then [DONE]', async () => {
    served = await serve({ home: { auto: false } });
    const response = await served.chat({ stream: true });
    served.home.session().tokens(bytesAsIds('a'));
    served.home
      .session()
      .finish('error', { code: 'engine_failed', message: 'the engine of replica r1 failed' });
    const events = parseSse(await response.text());
    expect(events.at(-2)?.data).toEqual({
      error: {
        message: 'the engine of replica r1 failed',
        type: 'server_error',
        param: null,
        code: 'engine_failed',
      },
    });
    expect(events.at(-1)).toEqual({ done: true });
  });

  it('is an HTTP error for an answer in one piece', async () => {
    served = await serve({ home: { auto: false } });
    served.home.onAdmit = (session) => {
      session.admitted();
      session.tokens(bytesAsIds('a'));
      session.finish('error', { code: 'numerical_failure', message: 'NaN' });
    };
    const response = await served.chat({});
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      500,
      'numerical_failure',
    ]);
  });
});

const toText = (events: ReturnType<typeof parseSse>): string =>
  events
    .map((event) =>
      event.comment !== undefined
        ? `: ${event.comment}\n\n`
        : event.done
          ? 'data: [DONE]\n\n'
          : `data: ${JSON.stringify(event.data)}\n\n`,
    )
    .join('');
