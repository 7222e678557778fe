import { chat, mapConcurrently } from '../lib/chat-client.ts';
import { isCorrect, type Problem } from '../lib/problems.ts';

/** One line of the table: a router over a list of problems. */
export interface QualityRow {
  router: string;
  threshold?: number;
  problems: number;
  accuracy: number;
  /** Share of the tokens that the large model wrote. */
  llmRatio: number;
  tokensPerAnswer: number;
  handoffsPerAnswer: number;
  tokensPerSecond: number;
}

/** Greedy answers to all problems, `concurrency` at a time, by the router that the request names. */
export async function evaluate(
  url: string,
  router: string,
  problems: readonly Problem[],
  concurrency: number,
): Promise<QualityRow> {
  const startedMs = performance.now();
  const options = { temperature: 0, max_tokens: 400, router };
  const answers = await mapConcurrently(problems, concurrency, ({ question }) =>
    chat(url, question, options),
  );
  const seconds = (performance.now() - startedMs) / 1000;
  const numTokens = answers.reduce((sum, { ids }) => sum + ids.length, 0);
  const numLarge = answers.reduce((sum, { tokensByModel }) => sum + (tokensByModel['large'] ?? 0), 0);
  const numRight = answers.filter(({ text }, i) => isCorrect(problems[i] as Problem, text)).length;
  return {
    router,
    problems: problems.length,
    accuracy: numRight / problems.length,
    llmRatio: numLarge / numTokens,
    tokensPerAnswer: numTokens / problems.length,
    handoffsPerAnswer: answers.reduce((sum, { handoffs }) => sum + handoffs, 0) / problems.length,
    tokensPerSecond: numTokens / seconds,
  };
}
