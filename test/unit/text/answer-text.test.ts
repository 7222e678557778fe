import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerText, type AnswerTextOptions } from '../../../actors/gateway/text/answer-text.ts';
import type { TokenBytes } from '../../../engine/tokenizer.ts';
import { cut, tokensOf } from './helpers/byte-tokens.ts';

interface Answer {
  text: string;
  perToken: string[];
  stoppedAt: number | undefined;
  stop: string | undefined;
}

/** Pushes `ids` in messages of the given sizes (repeated as needed). */
function read(
  tokens: TokenBytes,
  ids: readonly number[],
  sizes: readonly number[],
  options: AnswerTextOptions,
): Answer {
  const answer = new AnswerText(tokens, options);
  const result: Answer = { text: '', perToken: [], stoppedAt: undefined, stop: undefined };
  for (let from = 0, n = 0; from < ids.length; n += 1) {
    const size = Math.max(1, sizes[n % sizes.length] ?? 1);
    const delta = answer.push(ids.slice(from, from + size), from);
    expect(delta.tokenTexts.join('')).toBe(delta.text);
    result.text += delta.text;
    result.perToken.push(...delta.tokenTexts);
    result.stoppedAt ??= delta.stoppedAt;
    result.stop ??= delta.stop;
    from += size;
  }
  result.text += answer.finish();
  return result;
}

const words = tokensOf(['ABC ', 'DEF', 'G', 'HI', 'J', ' K', 'DEFGHIJ and', '<|end|>'], [7]);

describe('AnswerText', () => {
  it('ends at a stop string over tokens, and counts the token that completes it', () => {
    const answer = new AnswerText(words, { stop: ['DEFGHIJ'] });
    expect(answer.push([0, 1, 2], 0)).toEqual({ text: 'ABC ', tokenTexts: ['ABC ', '', ''] });
    expect(answer.push([3, 4, 5, 5], 3)).toEqual({
      text: '',
      tokenTexts: ['', '', '', ''],
      stoppedAt: 5,
      stop: 'DEFGHIJ',
    });
    expect(answer.isStopped).toBe(true);
    expect(answer.numTokens).toBe(5);
    expect(answer.push([5], 7)).toEqual({ text: '', tokenTexts: [''] });
    expect(answer.finish()).toBe('');
  });

  it('cuts inside a token and can include the stop string', () => {
    expect(read(words, [0, 6], [1], { stop: ['IJ'] })).toMatchObject({
      text: 'ABC DEFGH',
      stoppedAt: 2,
      stop: 'IJ',
    });
    expect(read(words, [0, 6], [1], { stop: ['IJ'], includeStopText: true })).toMatchObject({
      text: 'ABC DEFGHIJ',
      stoppedAt: 2,
    });
  });

  it('gives out an unfinished stop string at the end', () => {
    expect(read(words, [0, 1, 2, 3], [2], { stop: ['DEFGHIJ'] })).toEqual({
      text: 'ABC DEFGHI',
      perToken: ['ABC ', '', '', ''],
      stoppedAt: undefined,
      stop: undefined,
    });
  });

  it('skips tokens it has read, refuses a gap', () => {
    const answer = new AnswerText(words, { stop: [] });
    answer.push([0, 1], 0);
    expect(answer.push([0, 1, 2], 0)).toEqual({ text: 'G', tokenTexts: ['', '', 'G'] });
    expect(answer.push([1, 2], 1)).toEqual({ text: '', tokenTexts: ['', ''] });
    expect(answer.numTokens).toBe(3);
    expect(() => answer.push([4], 4)).toThrowError(
      expect.objectContaining({ code: 'illegal_state' }) as Error,
    );
    expect(answer.push([4], 3)).toEqual({ text: 'J', tokenTexts: ['J'] });
  });

  it('is the same streamed and whole, for any text, tokens, messages and stops', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.string({ unit: fc.constantFrom('a', 'b', '🙂', 'ď', ' '), maxLength: 30 }),
    );
    const stops = fc.array(
      fc.string({ unit: fc.constantFrom('a', 'b', '🙂', 'ď'), minLength: 1, maxLength: 4 }),
      { maxLength: 4 },
    );
    const places = fc.array(fc.nat(150), { maxLength: 40 });
    const sizes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(text, stops, places, sizes, (whole, stop, at, messages) => {
        const bytes = Buffer.from(whole);
        const { tokens, ids } = cut(bytes, at);
        const streamed = read(tokens, ids, messages, { stop });
        expect(streamed).toEqual(read(tokens, ids, [Math.max(1, ids.length)], { stop }));
        const oneToken = tokensOf([[...bytes]]);
        const whole1 = read(oneToken, [0], [1], { stop });
        expect({ text: streamed.text, stop: streamed.stop }).toEqual({
          text: whole1.text,
          stop: whole1.stop,
        });
        expect(streamed.text.includes('\ufffd')).toBe(
          streamed.text.includes('\ufffd') && whole.includes('\ufffd'),
        );
        if (streamed.stoppedAt === undefined) return;
        // Without the last kept token the stop string is not complete; with it, it is.
        const kept = (n: number): string => read(tokens, ids.slice(0, n), [1], { stop: [] }).text;
        expect(kept(streamed.stoppedAt)).toContain(streamed.text + (streamed.stop ?? ''));
        expect(kept(streamed.stoppedAt - 1)).not.toContain(streamed.text + (streamed.stop ?? ''));
      }),
      { numRuns: 1000 },
    );
  });
});
