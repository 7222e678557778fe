import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import { numberFlag, parseSystem, type SystemText } from '../../../deploy/system-options.ts';

const dir = mkdtempSync(join(tmpdir(), 'tokenrail-system-'));
afterAll(() => rmSync(dir, { recursive: true }));

function fileOf(content: unknown): string {
  const path = join(dir, 'routing.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function refusal(read: () => unknown): TokenrailError {
  try {
    read();
  } catch (error) {
    if (error instanceof TokenrailError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('a system on the command line', () => {
  it('of two models: one token at the large one and back', () => {
    expect(parseSystem({ stepMs: '6.0, 27.9', p: '0.25' })).toEqual({
      stepMs: [6, 27.9],
      routing: [
        [0.75, 0.25],
        [1, 0],
      ],
      commits: [
        [1, 0],
        [1, 0],
      ],
    });
  });

  it('of three models: the second may pass on to the third', () => {
    const { routing, commits } = parseSystem({ stepMs: '6,12.3,27.9', p: '.25,.125,.5' });
    expect(routing).toEqual([
      [0.625, 0.25, 0.125],
      [0.5, 0, 0.5],
      [1, 0, 0],
    ]);
    expect(commits).toEqual([
      [1, 0, 0],
      [1, 0, 0],
      [1, 0, 0],
    ]);
  });

  it('of a file: any number of models', () => {
    const routing = fileOf({ P: [[1]], C: [[1]] });
    expect(parseSystem({ stepMs: '6', routing })).toEqual({ stepMs: [6], routing: [[1]], commits: [[1]] });
  });

  it.each<[string, SystemText, RegExp]>([
    ['--step-ms', { p: '0.3' }, /required/],
    ['--step-ms', { stepMs: '6,x', p: '0.3' }, /"x"/],
    ['--step-ms', { stepMs: '6,0', p: '0.3' }, /≥ 0.001/],
    ['--step-ms', { stepMs: '6,1e9', p: '0.3' }, /≤ 60000/],
    ['--step-ms', { stepMs: ',', p: '0.3' }, /empty/],
    ['--p', { stepMs: '6,27.9' }, /required/],
    ['--p', { stepMs: '6,27.9', p: '1.5' }, /≤ 1/],
    ['--p', { stepMs: '6,27.9', p: '0.1,0.2' }, /one number/],
    ['--p', { stepMs: '6,12,27.9', p: '0.1,0.2' }, /p1,p2,q/],
    ['--p', { stepMs: '6,12,27.9', p: '0.7,0.5,0' }, /p1 \+ p2/],
    ['--p', { stepMs: '6,12,20,27.9', p: '0.1' }, /--routing for 4/],
    ['--routing', { stepMs: '6,27.9', p: '0.1', routing: 'x.json' }, /beside/],
    ['--routing', { stepMs: '6,27.9', routing: '/nowhere.json' }, /nowhere/],
  ])('refuses a wrong %s: %j', (flag, text, message) => {
    const error = refusal(() => parseSystem(text));
    expect(error).toMatchObject({ code: 'config_invalid', param: flag });
    expect(error.message).toMatch(new RegExp(`^${flag}: .*${message.source}`));
  });

  it.each<[unknown, RegExp]>([
    ['{', /JSON/],
    [[1], /an object with P and C/],
    [{ P: [[1]], C: [[1]], R: 1 }, /unknown key "R"/],
    [{ P: [[1]] }, /C must be 1 rows of 1/],
    [{ P: [[1, 0]], C: [[1]] }, /P must be 1 rows of 1/],
    [{ P: [['1']], C: [[1]] }, /P must be/],
    [{ P: [[0.9]], C: [[1]] }, /row 1 of P sums to 0.9/],
    [{ P: [[1]], C: [[-1]] }, /C must be/],
  ])('refuses a routing file %j', (content, message) => {
    const error = refusal(() => parseSystem({ stepMs: '6', routing: fileOf(content) }));
    expect(error).toMatchObject({ code: 'config_invalid', param: '--routing' });
    expect(error.message).toMatch(message);
  });

  it('of three models whose home never stays', () => {
    for (const p of ['0.9,0.1,0.1', '0.7,0.3,0', '0.1,0.9,1', '0.35,0.65,0.5']) {
      const { routing } = parseSystem({ stepMs: '6,12,28', p });
      expect(routing.flat().every((x) => x >= 0)).toBe(true);
    }
  });

  it.each([
    [
      'an absorbing model',
      {
        P: [
          [0.5, 0.5],
          [0, 1],
        ],
        C: [
          [1, 0],
          [1, 0],
        ],
      },
      /model 2 never commit/,
    ],
    [
      'no tokens at all',
      {
        P: [
          [0.5, 0.5],
          [1, 0],
        ],
        C: [
          [0, 0],
          [0, 0],
        ],
      },
      /model 1 never commit/,
    ],
    [
      'too many tokens',
      {
        P: [
          [0.5, 0.5],
          [1, 0],
        ],
        C: [
          [1, 0],
          [1e9, 0],
        ],
      },
      /> 1000/,
    ],
  ])('refuses %s', (_, content, message) => {
    const error = refusal(() => parseSystem({ stepMs: '6,27.9', routing: fileOf(content) }));
    expect(error).toMatchObject({ code: 'config_invalid', param: '--routing' });
    expect(error.message).toMatch(message);
  });

  it('takes a model that nobody visits, and one that is never left but writes', () => {
    const spare = { P: [[1, 0], [0, 1]], C: [[1, 0], [0, 0]] }; // prettier-ignore
    const sink = { P: [[0.5, 0.5], [0, 1]], C: [[1, 0], [0, 1]] }; // prettier-ignore
    for (const content of [spare, sink])
      expect(parseSystem({ stepMs: '6,27.9', routing: fileOf(content) }).routing).toEqual(content.P);
  });

  it('takes numbers within their limits only', () => {
    expect(numberFlag('--n', ' 8 ', { min: 1, isInteger: true })).toBe(8);
    for (const text of ['', ' ', '8x', '0', '1.5', 'Infinity', 'NaN'])
      expect(refusal(() => numberFlag('--n', text, { min: 1, isInteger: true })).message).toBe(
        `--n: expected an integer ≥ 1, got "${text}"`,
      );
  });
});
