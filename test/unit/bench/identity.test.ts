import { describe, expect, it } from 'vitest';
import { choiceDistance } from '../../../bench/identity/choice-distance.ts';
import { compareAnswers } from '../../../bench/identity/compare.ts';
import { drawDistance } from '../../../bench/identity/draw-distance.ts';
import { isCorrect, loadProblems } from '../../../bench/lib/problems.ts';
import type { ChatAnswer } from '../../../bench/lib/chat-client.ts';
import { uniform } from '../../../core/random.ts';
import type { SampledRow } from '../../../engine/engine.ts';
import { coLlm } from '../../../routers/co-llm.ts';
import { rowOf } from '../routers/rows.ts';

const reference = { ids: [5, 6, 7], models: [1, 2, 1], distances: [1, 0.5, 0.5] };
const answer = (change: Partial<ChatAnswer> = {}): ChatAnswer[] => [
  { ids: [5, 6, 7], models: ['small', 'large', 'small'], ...change } as ChatAnswer,
];
const compare = (answers: ChatAnswer[], change = {}) =>
  compareAnswers(answers, [{ ...reference, ...change }], ['small', 'large']);

describe('the comparison with the reference loop', () => {
  it('counts equal answers, and the tokens of guests', () => {
    expect(compare(answer())).toEqual({ tokens: 3, guestTokens: 1, identical: 1, excused: 0, failures: [] });
  });

  it('fails on another token, another writer, and answers too short or too long', () => {
    const wrong = [
      answer({ ids: [5, 9, 7] }),
      answer({ models: ['small', 'small', 'small'] }),
      answer({ ids: [5], models: ['small'] }),
    ];
    for (const answers of wrong) {
      expect(compare(answers).failures).toEqual([{ index: 0, position: 1, distance: 0.5 }]);
    }
    const long = answer({ ids: [5, 6, 7, 8], models: ['small', 'large', 'small', 'small'] });
    expect(compare(long).failures).toEqual([{ index: 0, position: 3, distance: Infinity }]);
  });

  it('excuses a difference only where a decision was within the margin', () => {
    expect(compare(answer({ ids: [5, 9, 7] }), { distances: [1, 0.00009, 1] }).excused).toBe(1);
    expect(compare(answer({ ids: [5, 9, 7] }), { distances: [0.00009, 0.0002, 0] }).failures).toHaveLength(1);
  });
});

describe('the distance of a draw', () => {
  it('is measured to the edges of the interval of the token it chose', () => {
    const key = { model: 1, position: 9, sampling: { temperature: 1, topP: 1, topK: -1, minP: 0, seed: 4 } };
    const u = uniform({ seed: 4, position: 9, model: 1, purpose: 'sample' });
    const logits = Float32Array.from([Math.log(0.2), Math.log(0.7), Math.log(0.1)]);
    const edges: [number, number, number][] = [
      [1, 0, 0.7],
      [0, 0.7, 0.9],
      [2, 0.9, 1],
    ];
    const [token, low, high] = edges.find((edge) => u < edge[2]) ?? [2, 0.9, 1];
    const expected = Math.min(low === 0 ? Infinity : u - low, high - u);
    expect(drawDistance(logits, token, key)).toBeCloseTo(expected, 5);
  });
});

describe('the distance of a composed choice', () => {
  const assistant = coLlm({
    self: 2,
    home: 1,
    models: [
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
    ],
    options: { strategy: 'compose' },
  });
  /** The base wants token 5, the assistant token 4, half and half; `lead` in favour of token 5. */
  const rowWith = (lead: number) =>
    rowOf({
      sampled: 4,
      topIds: Int32Array.of(4),
      topValues: Float32Array.of(Math.log(0.5)),
      logSumExp: 0,
      algo: { deferProb: 0.5, ids: [5], probabilities: [0.5 + lead] },
    });
  const distance = (lead: number): number => {
    const row = rowWith(lead);
    const result = { seq: 1, ok: true, top2Margin: 7, ...row } as SampledRow;
    return choiceDistance(assistant, row, result, { model: 2, position: 3, sampling: row.sampling });
  };

  it('is none where the mixture would choose another token within the margin, on either side', () => {
    expect([0.001, -0.001].map(distance)).toEqual([Infinity, Infinity]);
    expect([0.00001, -0.00001].map(distance)).toEqual([0, 0]);
  });

  it('is that of the model where nothing is composed', () => {
    const { algo: _algo, ...row } = rowWith(0);
    const result = { seq: 1, ok: true, top2Margin: 7, ...row } as SampledRow;
    const key = { model: 2, position: 3, sampling: row.sampling };
    expect(choiceDistance(assistant, row, result, key)).toBe(7);
  });
});

describe('problems', () => {
  it.each([0, -5, 1.5, NaN])('asks for no %s problems: nothing equals nothing', (count) => {
    expect(() => loadProblems('test', count)).toThrow(
      expect.objectContaining({ code: 'config_invalid', param: '--problems' }) as Error,
    );
  });

  it('count as solved only with exactly the right number in the last sentence', () => {
    const [problem] = loadProblems('test', 1);
    if (!problem) throw new Error('no problems');
    const { answer: n } = problem;
    expect(isCorrect(problem, `So it is.\nThe answer is ${n}.`)).toBe(true);
    expect(isCorrect(problem, `The answer is ${n}. The answer is ${n + 1}.`)).toBe(false);
    expect(isCorrect(problem, `The answer is ${n}0.`)).toBe(false);
    expect(isCorrect(problem, `${n}`)).toBe(false);
  });
});
