import { describe, expect, it } from 'vitest';
import { parseGenerationRequest } from '../../../actors/gateway/openai/schema.ts';
import { chat, completion, defaults, refusal } from './bodies.ts';

describe('what is not supported', () => {
  const NEUTRAL: [string, unknown][] = [
    ['n', 1],
    ['best_of', 1],
    ['echo', false],
    ['suffix', ''],
    ['logprobs', false],
    ['top_logprobs', 0],
    ['logit_bias', {}],
    ['frequency_penalty', 0],
    ['presence_penalty', 0],
    ['repetition_penalty', 1],
    ['min_tokens', 0],
    ['tools', []],
    ['tool_choice', 'none'],
    ['parallel_tool_calls', true],
    ['response_format', { type: 'text' }],
    ['modalities', ['text']],
    ['store', false],
    ['service_tier', 'auto'],
    ['metadata', { a: 'b' }],
  ];
  it.each(NEUTRAL)('%s passes as %j, and changes nothing', (name, value) => {
    expect(chat({ [name]: value })).toEqual(chat());
    expect(completion({ [name]: value })).toEqual(completion());
  });

  const REFUSED: [string, unknown][] = [
    ['n', 2],
    ['n', 0],
    ['n', 129],
    ['n', 1e9],
    ['n', '1'],
    ['best_of', 2],
    ['echo', true],
    ['suffix', 'x'],
    ['logprobs', true],
    ['logprobs', 0],
    ['top_logprobs', 21],
    ['logit_bias', { 5: -100 }],
    ['logit_bias', []],
    ['frequency_penalty', 0.1],
    ['presence_penalty', -2],
    ['repetition_penalty', 1.1],
    ['min_tokens', 3],
    ['tools', [{ type: 'function' }]],
    ['tool_choice', 'required'],
    ['tool_choice', { type: 'function' }],
    ['functions', [{}]],
    ['response_format', { type: 'json_object' }],
    ['response_format', { type: 'json_schema', json_schema: {} }],
    ['response_format', 'text'],
    ['modalities', ['text', 'audio']],
    ['audio', {}],
    ['guided_json', {}],
    ['prediction', {}],
    ['reasoning_effort', 'high'],
    ['store', true],
    ['service_tier', 'flex'],
    ['chat_template', '{{ x }}'],
  ];
  it.each(REFUSED)('%s is refused as %j, by name', (name, value) => {
    expect(refusal(() => chat({ [name]: value }))).toBe(`unsupported_parameter ${name}`);
    expect(refusal(() => completion({ [name]: value }))).toBe(`unsupported_parameter ${name}`);
  });

  it.each(['temprature', 'constructor', 'toString', '__proto__', 'max_new_tokens', ''])(
    'a field nobody knows: %j',
    (name) => {
      const body = JSON.parse(
        `{"model":"m","messages":[{"role":"user","content":"x"}],${JSON.stringify(name)}:1}`,
      ) as unknown;
      const call = () => parseGenerationRequest('chat', body, defaults);
      expect(refusal(call)).toBe(`unsupported_parameter ${name}`);
    },
  );
});
