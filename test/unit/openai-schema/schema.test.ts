import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseGenerationRequest } from '../../../actors/gateway/openai/schema.ts';
import { chat, chatBody, completion, defaults, refusal, textBody } from './bodies.ts';

describe('a plain request', () => {
  it('of a chat', () => {
    expect(chat()).toEqual({
      kind: 'chat',
      model: 'm',
      prompt: {
        kind: 'messages',
        messages: [{ role: 'user', content: 'hi' }],
        addGenerationPrompt: true,
        continueFinalMessage: false,
        templateKwargs: {},
      },
      sampling: defaults,
      stop: [],
      includeStopText: false,
      stopTokenIds: [],
      ignoreEos: false,
      skipSpecialTokens: true,
      stream: false,
      includeUsage: false,
      returnTokenIds: false,
    });
  });

  it('of a completion', () => {
    expect(completion()).toMatchObject({ kind: 'completion', prompt: { kind: 'text', text: 'hi' } });
  });

  it('with everything set', () => {
    const request = chat({
      temperature: 0.7,
      top_p: 0.5,
      top_k: 5,
      min_p: 0.1,
      seed: 42,
      max_tokens: 9,
      stop: ['a', 'b'],
      stop_token_ids: [7],
      include_stop_str_in_output: true,
      ignore_eos: true,
      skip_special_tokens: false,
      stream: true,
      stream_options: { include_usage: true },
      return_token_ids: true,
      router: 'r',
      user: 'u',
      continue_final_message: true,
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(request).toMatchObject({
      sampling: { temperature: 0.7, topP: 0.5, topK: 5, minP: 0.1 },
      seed: 42,
      maxTokens: 9,
      stop: ['a', 'b'],
      stopTokenIds: [7],
      includeStopText: true,
      ignoreEos: true,
      skipSpecialTokens: false,
      stream: true,
      includeUsage: true,
      returnTokenIds: true,
      router: 'r',
      user: 'u',
      prompt: {
        continueFinalMessage: true,
        addGenerationPrompt: false,
        templateKwargs: { enable_thinking: false },
      },
    });
  });
});

const NULLABLE = [
  'temperature top_p top_k min_p seed max_tokens max_completion_tokens stop stop_token_ids include_stop_str_in_output ignore_eos',
  'skip_special_tokens stream stream_options return_token_ids router user add_generation_prompt continue_final_message',
  'chat_template_kwargs n best_of echo suffix logprobs top_logprobs logit_bias frequency_penalty presence_penalty tools tool_choice',
  'response_format parallel_tool_calls modalities audio prediction metadata store service_tier functions function_call reasoning_effort',
].flatMap((line) => line.split(' '));

describe('null', () => {
  it('means absent, for every field at once', () => {
    expect(chat(Object.fromEntries(NULLABLE.map((name) => [name, null])))).toEqual(chat());
    expect(chat({ stream: true, stream_options: { include_usage: null } })).toEqual(chat({ stream: true }));
  });

  it('does not stand in for what is required', () => {
    expect(refusal(() => chat({ model: null }))).toBe('invalid_request model');
    expect(refusal(() => chat({ messages: null }))).toBe('invalid_request messages');
    expect(refusal(() => completion({ prompt: null }))).toBe('invalid_request prompt');
  });
});

describe('numbers out of range', () => {
  const cases: [string, unknown[], unknown[]][] = [
    ['max_tokens', [0, -1, 1.5, '5', 1e18, 2_147_483_648, true, Infinity], [1, 2_147_483_647]],
    ['max_completion_tokens', [0, -1, 1.5, '5', 1e18], [1, 2_147_483_647]],
    ['temperature', [-0.1, 2.1, '1', Infinity, [], true], [0, 2, 0.5]],
    ['top_p', [0, -1, 1.01, '1'], [1, 1e-9]],
    ['top_k', [-2, 1.5, '3', 1e18], [-1, 0, 1]],
    ['min_p', [-0.1, 1.1, '0'], [0, 1]],
    ['seed', [1.5, '1', 1e30, -1e30, Infinity], [0, -1, 2 ** 53, 2 ** 63, -(2 ** 63)]],
  ];
  it.each(cases)('%s', (name, bad, good) => {
    for (const value of bad)
      expect([value, refusal(() => chat({ [name]: value }))]).toEqual([value, `invalid_request ${name}`]);
    for (const value of good)
      expect([value, refusal(() => chat({ [name]: value }))]).toEqual([value, 'accepted']);
  });

  it('name the element of a list', () => {
    expect(refusal(() => chat({ stop_token_ids: [1, -1] }))).toBe('invalid_request stop_token_ids[1]');
    expect(refusal(() => chat({ stop_token_ids: 5 }))).toBe('invalid_request stop_token_ids');
  });

  it('the newer name of the limit wins', () => {
    expect(chat({ max_tokens: 5, max_completion_tokens: 7 }).maxTokens).toBe(7);
    expect(chat({ max_completion_tokens: 7 }).maxTokens).toBe(7);
    expect(refusal(() => completion({ max_completion_tokens: 7 }))).toBe(
      'unsupported_parameter max_completion_tokens',
    );
  });

  it('0 as top_k means off, and −0 is no seed of its own', () => {
    expect(chat({ top_k: 0 }).sampling.topK).toBe(-1);
    expect(Object.is(chat({ seed: -0 }).seed, 0)).toBe(true);
  });
});

describe('stop', () => {
  it('is a text or up to four', () => {
    expect(chat({ stop: 'x' }).stop).toEqual(['x']);
    expect(chat({ stop: [] }).stop).toEqual([]);
    expect(chat({ stop: ['a', 'b', 'c', '🙂'] }).stop.length).toBe(4);
  });
  it.each([
    ['', 'stop[0]'],
    [['a', ''], 'stop[1]'],
    [['a', 'b', 'c', 'd', 'e'], 'stop'],
    [[1], 'stop[0]'],
    [7, 'stop'],
    [{}, 'stop'],
    ['x'.repeat(1025), 'stop[0]'],
    ['\ud83d', 'stop[0]'],
  ])('%j is refused', (stop, param) => {
    expect(refusal(() => chat({ stop }))).toBe(`invalid_request ${param}`);
  });
});

describe('stream options', () => {
  it('belong to streams', () => {
    expect(refusal(() => chat({ stream_options: { include_usage: true } }))).toBe(
      'invalid_request stream_options',
    );
    expect(chat({ stream: true, stream_options: {} }).includeUsage).toBe(false);
    expect(
      chat({ stream: true, stream_options: { include_usage: true, continuous_usage_stats: false } })
        .includeUsage,
    ).toBe(true);
  });
  it.each([
    [7, 'invalid_request stream_options'],
    [{ include_usage: 'yes' }, 'invalid_request stream_options.include_usage'],
    [{ continuous_usage_stats: true }, 'unsupported_parameter stream_options.continuous_usage_stats'],
    [{ colour: 1 }, 'unsupported_parameter stream_options.colour'],
  ])('%j: %s', (options, expected) => {
    expect(refusal(() => chat({ stream: true, stream_options: options }))).toBe(expected);
  });
});

describe('other fields', () => {
  it.each([
    ['stream', 'true'],
    ['ignore_eos', 1],
    ['return_token_ids', 'x'],
    ['router', 5],
    ['user', {}],
    ['chat_template_kwargs', []],
    ['model', 5],
  ])('%s is refused as %j', (name, value) => {
    expect(refusal(() => chat({ [name]: value }))).toBe(`invalid_request ${name}`);
  });

  it('the turn is opened or continued, not both', () => {
    expect(chat({ add_generation_prompt: false }).prompt).toMatchObject({ addGenerationPrompt: false });
    expect(refusal(() => chat({ add_generation_prompt: true, continue_final_message: true }))).toBe(
      'invalid_request continue_final_message',
    );
  });

  it.each([null, undefined, [], 'x', 5])('a body that is no object: %j', (body) => {
    expect(refusal(() => parseGenerationRequest('chat', body, defaults))).toBe('invalid_request body');
  });

  it('no JSON makes it throw anything but a refusal', () => {
    const name = fc.constantFrom(...NULLABLE, 'model', 'messages', 'prompt');
    const message = fc.record(
      { role: fc.oneof(fc.constant('user'), fc.jsonValue()), content: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const value = fc.oneof(fc.jsonValue(), fc.array(message), fc.constant('m'), fc.integer());
    fc.assert(
      fc.property(
        fc.constantFrom('chat' as const, 'completion' as const),
        fc.dictionary(name, value, { maxKeys: 6 }),
        (kind, body) => {
          refusal(() =>
            parseGenerationRequest(kind, { ...(kind === 'chat' ? chatBody : textBody), ...body }, defaults),
          );
        },
      ),
      { numRuns: 1000 },
    );
  });
});
