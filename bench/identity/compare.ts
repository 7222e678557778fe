import type { ChatAnswer } from '../lib/chat-client.ts';
import { MARGIN } from './margin.ts';
import type { ReferenceAnswer } from './reference-loop.ts';

export interface Comparison {
  tokens: number;
  /** Tokens written by another model than the home: without any the comparison would say little. */
  guestTokens: number;
  identical: number;
  /** Answers that differ first where a decision was within {@link MARGIN}. */
  excused: number;
  failures: { index: number; position: number; distance: number }[];
}

/** Compares answers of the system with the reference, token by token, including who wrote each token. */
export function compareAnswers(
  answers: readonly ChatAnswer[],
  references: readonly ReferenceAnswer[],
  modelNames: readonly string[],
): Comparison {
  const result: Comparison = { tokens: 0, guestTokens: 0, identical: 0, excused: 0, failures: [] };
  answers.forEach((answer, index) => {
    const reference = references[index];
    if (!reference) throw new Error(`no reference for answer ${index}`);
    result.tokens += reference.ids.length;
    result.guestTokens += reference.models.filter((model) => model !== 1).length;
    const names = reference.models.map((model) => modelNames[model - 1]);
    const length = Math.max(answer.ids.length, reference.ids.length);
    let position = 0;
    while (
      position < length &&
      answer.ids[position] === reference.ids[position] &&
      answer.models[position] === names[position]
    ) {
      position += 1;
    }
    const distance = reference.distances[position] ?? Infinity;
    if (position === length) result.identical += 1;
    else if (distance < MARGIN) result.excused += 1;
    else result.failures.push({ index, position, distance });
  });
  return result;
}
