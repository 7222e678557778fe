import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Palette, wantsColour } from '../../../deploy/client/palette.ts';
import { sseData } from '../../../deploy/client/sse.ts';
import { answerOf, demoProblems } from '../../../deploy/demo/problems.ts';

async function* pieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const at = [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let from = 0;
  for (const to of at) {
    yield await Promise.resolve(bytes.subarray(from, to));
    from = to;
  }
}

async function collect(text: string, cuts: readonly number[] = []): Promise<string[]> {
  const events: string[] = [];
  for await (const data of sseData(pieces(new TextEncoder().encode(text), cuts))) events.push(data);
  return events;
}

describe('server-sent events', () => {
  test('data of several lines, comments, other fields and both line ends', async () => {
    const text = ': hello\n\nid: 1\ndata: a\ndata: b\n\ndata:c\r\n\r\n: keep-alive\n\ndata: [DONE]\n\n';
    expect(await collect(text)).toEqual(['a\nb', 'c', '[DONE]']);
  });

  test('an event that is not finished is not an event', async () => {
    expect(await collect('data: a\n\ndata: b')).toEqual(['a']);
  });

  test('do not depend on how the bytes are cut', async () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(10_000)), async (events, cuts) => {
        const text = events.map((event) => `data: ${event}\n\n`).join('');
        expect(await collect(text, cuts)).toEqual(events);
      }),
    );
  });
});

describe('colours', () => {
  test('are used at terminals, unless NO_COLOR says no; FORCE_COLOR says yes elsewhere', () => {
    expect(wantsColour({ isTTY: true }, {})).toBe(true);
    expect(wantsColour({}, {})).toBe(false);
    expect(wantsColour({ isTTY: true }, { NO_COLOR: '1' })).toBe(false);
    expect(wantsColour({ isTTY: true }, { NO_COLOR: '' })).toBe(true);
    expect(wantsColour({}, { FORCE_COLOR: '1' })).toBe(true);
    expect(wantsColour({ isTTY: true }, { FORCE_COLOR: '0' })).toBe(false);
  });

  test('differ by model and stay the same for one', () => {
    const palette = new Palette(true, ['small', 'large']);
    const [small, large] = [palette.paint('small', 'x'), palette.paint('large', 'x')];
    expect(small).not.toBe(large);
    expect(palette.paint('small', 'x')).toBe(small);
    expect(new Palette(false, ['small']).paint('small', 'x')).toBe('x');
    expect(palette.paint('small', '')).toBe('');
  });
});

describe('the problems of the demo', () => {
  test('are as many as asked, always the same, and of different kinds', () => {
    const problems = demoProblems(6);
    expect(problems).toHaveLength(6);
    expect(demoProblems(6)).toEqual(problems);
    expect(new Set(problems.map(({ question }) => question)).size).toBe(6);
  });

  test('are checked against the number the answer ends with', () => {
    expect(answerOf('3*4=12.\nThe answer is 12.')).toBe(12);
    expect(answerOf('The answer is -3.')).toBe(-3);
    expect(answerOf('no idea')).toBeUndefined();
  });
});
