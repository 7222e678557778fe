import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { packageRoot } from '../config/package-root.ts';

export interface Problem {
  question: string;
  answer: number;
}

const recordShape = z.object({ question: z.string(), answer: z.number(), kind: z.string() });

/** Used where the package comes without its problem lists. */
const ownProblems: readonly Problem[] = [
  {
    question: 'Tom has 3 boxes with 14 pens in each. Tom buys 8 more pens. How many pens are there in total?',
    answer: 50,
  },
  {
    question: 'Ada picks 57 apples. Ada gives 19 apples away. How many apples does Ada have now?',
    answer: 38,
  },
  {
    question:
      'A ticket costs 12 dollars. Ben buys 4 tickets and pays with 60 dollars. How much change does Ben get?',
    answer: 12,
  },
];

/** Held-out problems of the embedded models, of as many kinds as there are, in a fixed order. */
function heldOutProblems(): Problem[] {
  const lines = readFileSync(join(packageRoot, 'models', 'problems', 'test.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const byKind = new Map<string, Problem[]>();
  for (const line of lines) {
    const { kind, question, answer } = recordShape.parse(JSON.parse(line));
    byKind.set(kind, [...(byKind.get(kind) ?? []), { question, answer }]);
  }
  const kinds = [...byKind.values()];
  const longest = Math.max(...kinds.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => kinds.flatMap((list) => list.slice(i, i + 1))).flat();
}

/** `count` problems with known answers. */
export function demoProblems(count: number): Problem[] {
  let problems: readonly Problem[] = ownProblems;
  try {
    problems = heldOutProblems();
  } catch {
    // The list is a convenience; the demo works without it.
  }
  return Array.from({ length: count }, (_, i) => problems[i % problems.length] as Problem);
}

/** The number an answer of the embedded models ends with. */
export function answerOf(text: string): number | undefined {
  const match = /The answer is (-?\d+)\./.exec(text);
  return match === null ? undefined : Number(match[1]);
}
