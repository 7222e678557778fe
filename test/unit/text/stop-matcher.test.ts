import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StopMatcher } from '../../../actors/gateway/text/stop-matcher.ts';

interface Result {
  emits: string[];
  stop?: string;
  index?: number;
}

function run(stops: readonly string[], pieces: readonly string[]): Result {
  const matcher = new StopMatcher(stops);
  const result: Result = { emits: [] };
  for (const piece of pieces) {
    const { emit, matched } = matcher.push(piece);
    result.emits.push(emit);
    if (matched !== undefined && result.stop === undefined)
      Object.assign(result, { stop: matched.stop, index: matched.index });
  }
  result.emits.push(matcher.flush());
  return result;
}

/** Straight from the definition: the first place where some stop ends; there, the longest. */
function reference(stops: readonly string[], text: string): { text: string; stop?: string; index?: number } {
  for (let end = 1; end <= text.length; end += 1) {
    const found = stops
      .filter((stop) => text.slice(0, end).endsWith(stop))
      .sort((a, b) => b.length - a.length)[0];
    if (found !== undefined)
      return { text: text.slice(0, end - found.length), stop: found, index: end - found.length };
  }
  return { text };
}

const split = (text: string, places: readonly number[]): string[] => {
  const bounds = [...new Set([0, ...places.map((place) => place % (text.length + 1)), text.length])].sort(
    (a, b) => a - b,
  );
  return bounds.slice(1).map((end, i) => text.slice(bounds[i], end));
};

describe('StopMatcher', () => {
  it('cuts a stop string that spans pieces exactly', () => {
    const result = run(['DEFGHIJ'], ['ABC ', 'DEF', 'G', 'HI', 'J', ' K']);
    expect(result).toEqual({ emits: ['ABC ', '', '', '', '', '', ''], stop: 'DEFGHIJ', index: 4 });
  });

  it('gives out what was held back when the text ends', () => {
    const result = run(['DEFGHIJ'], ['ABC DEF', 'GH']);
    expect(result).toEqual({ emits: ['ABC ', '', 'DEFGH'] });
  });

  it('gives out at once what can no longer become a stop', () => {
    expect(run(['aab'], ['a', 'a', 'a', 'c', 'd']).emits).toEqual(['', '', 'a', 'aac', 'd', '']);
    expect(run(['\n\nQ:'], ['x\n', '\n', 'A']).emits).toEqual(['x', '', '\n\nA', '']);
  });

  it('takes the match that is complete first, the longest at the same end', () => {
    expect(run(['ab', 'aab'], ['xaab'])).toEqual({ emits: ['x', ''], stop: 'aab', index: 1 });
    expect(run(['abcd', 'bc'], ['abcd'])).toEqual({ emits: ['a', ''], stop: 'bc', index: 1 });
    expect(run(['abcd', 'bc'], [...'abcd'])).toMatchObject({ stop: 'bc', index: 1 });
  });

  it('passes everything without stops', () => {
    expect(run([], ['a', 'b']).emits).toEqual(['a', 'b', '']);
  });

  it('equals the definition for any stops and any split', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', '🙂', 'c'), minLength: 1, maxLength: 5 });
    const stops = fc.array(word, { minLength: 1, maxLength: 4 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '🙂', 'c', 'd'), maxLength: 30 });
    fc.assert(
      fc.property(stops, text, fc.array(fc.nat(100), { maxLength: 20 }), (list, whole, places) => {
        const { emits, stop, index } = run(list, split(whole, places));
        expect({ text: emits.join(''), stop, index }).toEqual({
          stop: undefined,
          index: undefined,
          ...reference(list, whole),
        });
      }),
      { numRuns: 3000 },
    );
  });

  it('holds back no more than may still match', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 }), (whole) => {
        const stop = 'ababbX';
        const matcher = new StopMatcher([stop]);
        let emitted = '';
        for (let i = 0; i < whole.length; i += 1) {
          emitted += matcher.push(whole.charAt(i)).emit;
          const held = whole.slice(emitted.length, i + 1);
          expect(stop.startsWith(held)).toBe(true);
          const longest = Math.max(
            ...[...Array(stop.length).keys()].filter((n) => whole.slice(0, i + 1).endsWith(stop.slice(0, n))),
          );
          expect(held.length).toBe(longest);
        }
      }),
    );
  });

  it('walks a hostile text with a number of steps linear in its length', () => {
    const stop = `${'a'.repeat(999)}b`;
    const matcher = new StopMatcher([stop, `${'a'.repeat(500)}c`]);
    const { emit } = matcher.push('a'.repeat(2_000_000));
    expect(emit.length).toBe(2_000_000 - 999);
    expect(matcher.push('b').matched).toEqual({ stop, index: 2_000_000 - 999 });
  });
});
