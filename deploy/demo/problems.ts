import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { packageRoot } from '../config/package-root.ts';

export interface Problem {
  question: string;
  answer: number;
}

const recordShape = z.object({ question: z.string(), answer: z.number(), kind: z.string() });

/** Used where the package comes without its problem lists, and in their phrasings: the models know no others. */
const ownProblems: readonly Problem[] = [
  {
    question:
      'At first Rufus has 20 stamps. Dylan gives Rufus 33 more. In a year Rufus has 3 times as many. How many stamps does Rufus have now?',
    answer: 159,
  },
  {
    question: 'A shop sells 8 dozen eggs and 16 more. How many eggs is that in all?',
    answer: 112,
  },
  {
    question:
      'Bianca wants 6 puzzles that cost 3 dollars each and gives the shop 79 dollars. How many dollars come back?',
    answer: 61,
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
