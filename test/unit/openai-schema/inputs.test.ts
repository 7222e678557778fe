import { describe, expect, it } from 'vitest';
import { parseGenerationRequest } from '../../../actors/gateway/openai/schema.ts';
import { chat, completion, defaults, refusal } from './bodies.ts';

describe('messages', () => {
  const withMessages =
    (...messages: unknown[]) =>
    () =>
      parseGenerationRequest('chat', { model: 'm', messages }, defaults);
  const messagesOf = (...messages: unknown[]) => {
    const { prompt } = withMessages(...messages)();
    return prompt.kind === 'messages' ? prompt.messages : undefined;
  };

  it('join text parts, as if they were one text', () => {
    const parts = [
      { type: 'text', text: 'What is ' },
      { type: 'text', text: '2+2?' },
    ];
    expect(messagesOf({ role: 'user', content: parts })).toEqual(
      messagesOf({ role: 'user', content: 'What is 2+2?' }),
    );
    expect(messagesOf({ role: 'user', content: [] })).toEqual([{ role: 'user', content: '' }]);
  });

  it('are bounded in number', () => {
    const many = Array.from({ length: 2_048 }, () => ({ role: 'user', content: '' }));
    expect(messagesOf(...many)?.length).toBe(2_048);
    expect(refusal(withMessages(...many, many[0]))).toBe('invalid_request messages');
  });

  it('of all roles are left to the template', () => {
    const all = ['system', 'developer', 'user', 'assistant', 'tool'].map((role) => ({ role, content: 'x' }));
    expect(messagesOf(...all)).toEqual(all);
    expect(
      messagesOf(
        { role: 'user', content: 'x', name: 'Ann' },
        { role: 'tool', content: 'y', tool_call_id: '1' },
      ),
    ).toEqual([
      { role: 'user', content: 'x', name: 'Ann' },
      { role: 'tool', content: 'y', tool_call_id: '1' },
    ]);
  });

  it('may be empty, and null where an assistant said nothing', () => {
    expect(messagesOf({ role: 'user', content: '' }, { role: 'user', content: '\u0000' })?.length).toBe(2);
    const silent = {
      role: 'assistant',
      content: null,
      refusal: null,
      annotations: [],
      tool_calls: null,
      audio: null,
    };
    expect(messagesOf(silent)).toEqual([{ role: 'assistant', content: '' }]);
  });

  it.each([
    [[], 'invalid_request messages'],
    [[null], 'invalid_request messages[0]'],
    [['hi'], 'invalid_request messages[0]'],
    [[{ content: 'x' }], 'invalid_request messages[0].role'],
    [[{ role: 'banana', content: 'x' }], 'invalid_request messages[0].role'],
    [[{ role: 'user|>', content: 'x' }], 'invalid_request messages[0].role'],
    [[{ role: 7, content: 'x' }], 'invalid_request messages[0].role'],
    [[{ role: 'user', content: null }], 'invalid_request messages[0].content'],
    [[{ role: 'user' }], 'invalid_request messages[0].content'],
    [[{ role: 'user', content: 5 }], 'invalid_request messages[0].content'],
    [[{ role: 'user', content: {} }], 'invalid_request messages[0].content'],
    [[{ role: 'user', content: ['x'] }], 'invalid_request messages[0].content[0]'],
    [[{ role: 'user', content: [{ type: 'text' }] }], 'invalid_request messages[0].content[0].text'],
    [[{ role: 'user', content: [{ text: 'x' }] }], 'invalid_request messages[0].content[0].type'],
    [
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'image_url', image_url: {} },
          ],
        },
      ],
      'unsupported_parameter messages[0].content[1].type',
    ],
    [
      [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: {} }] }],
      'unsupported_parameter messages[0].content[0].cache_control',
    ],
    [[{ role: 'user', content: 'x', name: 7 }], 'invalid_request messages[0].name'],
    [
      [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, tool_calls: [{}] },
      ],
      'unsupported_parameter messages[1].tool_calls',
    ],
    [[{ role: 'user', content: 'x', colour: 'red' }], 'unsupported_parameter messages[0].colour'],
  ])('%j: %s', (messages, expected) => {
    expect(refusal(withMessages(...messages))).toBe(expected);
  });
});

describe('prompt', () => {
  const promptOf = (prompt: unknown) => completion({ prompt }).prompt;
  it('is a text or token ids, or a list of one of these', () => {
    expect(promptOf('')).toEqual({ kind: 'text', text: '' });
    expect(promptOf(['a'])).toEqual({ kind: 'text', text: 'a' });
    expect(promptOf([''])).toEqual({ kind: 'text', text: '' });
    expect(promptOf([1, 2, 3])).toEqual({ kind: 'ids', ids: [1, 2, 3] });
    expect(promptOf([[1, 2]])).toEqual({ kind: 'ids', ids: [1, 2] });
  });
  it.each([
    [['a', 'b'], 'unsupported_parameter prompt'],
    [[[1], [2]], 'unsupported_parameter prompt'],
    [['a', 1], 'unsupported_parameter prompt'],
    [[], 'invalid_request prompt'],
    [[[]], 'invalid_request prompt'],
    [[[[1]]], 'invalid_request prompt[0]'],
    [[['a']], 'invalid_request prompt[0]'],
    [[-1], 'invalid_request prompt'],
    [[1.5], 'invalid_request prompt'],
    [[1, null], 'invalid_request prompt'],
    [[2 ** 31], 'invalid_request prompt'],
    [5, 'invalid_request prompt'],
    [{}, 'invalid_request prompt'],
  ])('%j: %s', (prompt, expected) => {
    expect(refusal(() => completion({ prompt }))).toBe(expected);
  });
  it('belongs to completions, messages to chats', () => {
    expect(refusal(() => chat({ prompt: 'x' }))).toBe('unsupported_parameter prompt');
    expect(refusal(() => completion({ messages: [] }))).toBe('unsupported_parameter messages');
  });
});
