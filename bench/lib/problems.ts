import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TokenrailError } from '../../core/errors.ts';
import { packageRoot } from '../../deploy/config/package-root.ts';

/** One held-out word problem of the embedded models. */
export interface Problem {
  id: string;
  question: string;
  answer: number;
  kind: string;
}

/** `test`: unseen numbers and names; `test-sentences`: unseen sentences as well; `validation`: for choosing. */
export type ProblemList = 'test' | 'test-sentences' | 'validation';

/**
 * The first `count` problems of a list; all, where it has no more.
 * @throws TokenrailError `config_invalid`: whatever is asked of no problems holds
 */
export function loadProblems(list: ProblemList, count: number): Problem[] {
  if (!Number.isInteger(count) || count < 1)
    throw new TokenrailError('config_invalid', `--problems: expected an integer of 1 or more, got ${count}`, {
      param: '--problems',
    });
  const path = join(packageRoot, 'models', 'problems', `${list}.jsonl`);
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.slice(0, count).map((line) => JSON.parse(line) as Problem);
}

/** Whether a text ends in the right answer: its last "The answer is N." names exactly that number. */
export function isCorrect(problem: Problem, text: string): boolean {
  const found = [...text.matchAll(/The answer is (-?\d+)\./g)].at(-1)?.[1];
  return found !== undefined && Number(found) === problem.answer;
}
