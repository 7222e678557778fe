import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, expectWorks, type ErrorAnswer } from './expect-error.ts';
import { choiceOf, EOS, serve, until, type Served } from './setup.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

describe('limits of a request', () => {
  it('odd numbers answer within the request, naming the field', async () => {
    for (const field of ['max_tokens', 'max_completion_tokens']) {
      for (const value of [0, -1, 1.5, '5', 1e18, 2_147_483_647]) {
        const response = await served.chat({ [field]: value });
        expect(response.status).toBe(400);
        await response.text();
      }
    }
    await expectWorks(served);
  });

  it('prompt and answer must fit the smallest context', async () => {
    const fits = await served.post('/v1/completions', {
      model: 'tokenrail',
      prompt: Array(500).fill(5),
      max_tokens: 12,
    });
    expect(fits.status).toBe(200);
    const wide = await served.post('/v1/completions', {
      model: 'tokenrail',
      prompt: Array(500).fill(5),
      max_tokens: 13,
    });
    const error = await expectError(wide, 400, 'context_length_exceeded', 'prompt');
    expect(error.message).toContain(
      'maximum context length is 512 tokens. However, you requested 513 tokens (500 in the prompt, 13 in the completion)',
    );
    const long = await served.post('/v1/completions', { model: 'tokenrail', prompt: Array(512).fill(5) });
    await expectError(long, 400, 'context_length_exceeded', 'prompt');
    await expectError(
      await served.chat({ messages: [{ role: 'user', content: 'x '.repeat(100_000) }] }),
      400,
      'context_length_exceeded',
      'messages',
    );
  });

  it('without max_tokens an answer may fill the context', async () => {
    const before = served.home.admits.length;
    await served.post('/v1/completions', { model: 'tokenrail', prompt: [5, 6, 7] });
    expect(served.home.admits[before]?.init.limits.maxTokens).toBe(509);
  });

  it('prompts that are empty, or ids of no token', async () => {
    const prompts: unknown[] = [
      '',
      [],
      [''],
      [[]],
      [768],
      [-1],
      [1.5],
      [2 ** 40],
      ['a', 'b'],
      [[1], [2]],
      [5, 'a'],
    ];
    for (const prompt of prompts) {
      const response = await served.post('/v1/completions', { model: 'tokenrail', prompt });
      expect([JSON.stringify(prompt), response.status]).toEqual([JSON.stringify(prompt), 400]);
      expect(((await response.json()) as ErrorAnswer).error.param).toMatch(/^prompt/);
      await expectWorks(served);
    }
    await expectError(await served.chat({ messages: [] }), 400, 'invalid_request');
    for (const content of ['', ' ', '\u0000']) {
      const response = await served.chat({ messages: [{ role: 'user', content }] });
      expect([200, 400]).toContain(response.status);
      await response.text();
    }
    await expectWorks(served);
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
    const passed = {
      response_format: { type: 'text' },
      tools: [],
      tool_choice: 'none',
      n: 1,
      logprobs: false,
    };
    expect((await served.chat(passed)).status).toBe(200);
  });

  it('null is absent, and text parts are joined', async () => {
    const optional = [
      'temperature',
      'top_p',
      'top_k',
      'min_p',
      'seed',
      'stop',
      'max_tokens',
      'stream',
      'stream_options',
      'user',
      'n',
    ];
    const before = served.home.admits.length;
    const nulls = await served.chat(Object.fromEntries(optional.map((name) => [name, null])));
    expect(nulls.status).toBe(200);
    await served.chat({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'H' },
            { type: 'text', text: 'i' },
          ],
        },
      ],
    });
    await expectWorks(served);
    const [first, second, third] = served.home.admits.slice(before).map(({ tokens }) => tokens);
    expect(first).toEqual(third);
    expect(second).toEqual(third);
    const image = { type: 'image_url', image_url: { url: 'data:,' } };
    const refused = await served.chat({ messages: [{ role: 'user', content: [image] }] });
    expect(refused.status).toBe(400);
  });

  it('seeds of any size reach the home as they are; one is drawn where none is given', async () => {
    const seeds = [0, -1, 5, 2 ** 53, 2 ** 60, -(2 ** 63)];
    for (const seed of seeds) {
      expect((await served.chat({ seed })).status).toBe(200);
      expect(served.home.admits.at(-1)?.init.sampling.seed).toBe(seed);
    }
    for (const seed of [1.5, '1', 2 ** 70])
      await expectError(await served.chat({ seed }), 400, 'invalid_request', 'seed');
    const drawn = new Set<unknown>();
    for (let i = 0; i < 3; i += 1) {
      await (await served.chat({})).text();
      drawn.add(served.home.admits.at(-1)?.init.sampling.seed);
    }
    expect(drawn.size).toBe(3);
  });

  it("end tokens are the deployment's and the request's; ignore_eos leaves the latter", async () => {
    const stopIds = async (fields: object): Promise<readonly number[] | undefined> => {
      await (await served.chat({ max_tokens: 5, ...fields })).text();
      return served.home.admits.at(-1)?.init.limits.stopIds;
    };
    expect(await stopIds({})).toEqual([EOS]);
    expect(await stopIds({ stop_token_ids: [7, EOS] })).toEqual([EOS, 7]);
    expect(await stopIds({ stop_token_ids: [7], ignore_eos: true })).toEqual([7]);
    expect(await stopIds({ ignore_eos: true })).toEqual([]);
  });
});

describe('a request that takes longer than its deadline', () => {
  it('ends with an error, streamed or not, and the home is told', async () => {
    const late = await serve({ gateway: { deadlineMs: 60 }, home: { auto: false } });
    try {
      const [whole, stream] = await Promise.all([late.chat({}), late.chat({ stream: true })]);
      await expectError(whole, 504, 'deadline_exceeded');
      expect(await stream.text()).toMatch(/"code":"deadline_exceeded"[^]*\[DONE\]/);
      await until(() => late.home.aborts.length === 2);
      expect(late.home.admits[0]?.deadlineMs).toBeGreaterThan(0);
      expect(late.home.aborts.map(({ reason }) => reason)).toEqual(['deadline', 'deadline']);
    } finally {
      await late.stop();
    }
  });
});

describe('one huge word', () => {
  it.each([
    ['underscores', '_'.repeat(200_000)],
    ['spaces', ' '.repeat(200_000)],
    ['combining marks', `a${'\u0301'.repeat(100_000)}`],
    ['line breaks', '\n'.repeat(20_000)],
  ])('of %s is read beside the serving loop', async (_name, prompt) => {
    const wide = await serve({ home: { maxModelLenTokens: 1_000_000 } });
    try {
      let done = false;
      const answer = wide
        .post('/v1/completions', { model: 'tokenrail', prompt, max_tokens: 2 })
        .then((response) => {
          done = true;
          return response;
        });
      expect((await fetch(`${wide.url}/health`)).status).toBe(200);
      expect(done).toBe(false);
      expect((await answer).status).toBe(200);
      expect(choiceOf(await (await answer).json()).text).toBe('He');
    } finally {
      await wide.stop();
    }
  });
});
