import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { chat, mapConcurrently, type ChatAnswer } from '../lib/chat-client.ts';
import { isCorrect, type Problem } from '../lib/problems.ts';
import { modelDir } from '../lib/model-dir.ts';
import { startSystem } from '../lib/system.ts';
import type { Candidate } from './candidate.ts';
import type { Outcome } from './outcome.ts';
import { passesOf, type Passes } from './passes.ts';

/** The models, the home first and the guest of the pair last. */
export const MODELS = ['small', 'medium', 'large'] as const;
export const HOME = 'small';
const GUEST = 'large';

/** No held-out problem takes more. */
const MAX_TOKENS = 400;

export interface Answer extends ChatAnswer {
  isRight: boolean;
  promptTokens: number;
  writers: readonly string[];
  passes: ReadonlyMap<string, Passes>;
}

/** All answers of one router. */
export interface Run {
  candidate: Candidate;
  answers: Answer[];
  seconds: number;
}

/** A running deployment that knows these routers. */
export interface Deployed {
  /** Greedy answers to all problems, `concurrency` at a time. */
  answer(candidate: Candidate, problems: readonly Problem[], concurrency: number): Promise<Run>;
}

/** Starts one deployment of the three models with all these routers, and stops it after `work`. */
export async function withRouters<T>(
  candidates: readonly Candidate[],
  work: (deployed: Deployed) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'tokenrail-quality-'));
  try {
    const config = join(folder, 'config.yaml');
    const models = MODELS.map((name) => ({ name, path: modelDir(name) }));
    writeFileSync(config, stringify({ models, routers: candidates.map(({ router }) => router) }));
    const system = await startSystem(['--config', config, '--log-level', 'warn']);
    try {
      return await work({
        answer: (candidate, problems, concurrency) => answerAll(system.url, candidate, problems, concurrency),
      });
    } finally {
      await system.stop();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function answerAll(
  url: string,
  candidate: Candidate,
  problems: readonly Problem[],
  concurrency: number,
): Promise<Run> {
  const startedMs = performance.now();
  const answers = await mapConcurrently(problems, concurrency, async (problem, index) => {
    const options = { temperature: 0, seed: index, max_tokens: MAX_TOKENS, router: candidate.id };
    const answer = await chat(url, problem.question, options);
    const shape = {
      promptTokens: answer.promptIds.length,
      writers: answer.models,
      handoffs: answer.handoffs,
    };
    const passes = passesOf(shape, HOME, candidate.passRule);
    return { ...answer, ...shape, passes, isRight: isCorrect(problem, answer.text) };
  });
  return { candidate, answers, seconds: (performance.now() - startedMs) / 1000 };
}

/** The columns that statistics need. */
export function outcomeOf({ answers }: Run): Outcome {
  return {
    correct: answers.map(({ isRight }) => (isRight ? 1 : 0)),
    tokens: answers.map(({ writers }) => writers.length),
    largeTokens: answers.map(({ writers }) => writers.filter((model) => model === GUEST).length),
  };
}

/**
 * Signals of the home's tokens. A token that went to the guest all the same had a signal beyond every threshold; a signal
 * that is no number (NaN) sends its token there as well.
 */
export function homeSignals({ answers }: Run, beyond: number): number[] {
  return answers.flatMap(({ writers, signals }) =>
    writers.map((model, i) => (model === HOME ? (signals[i] ?? beyond) : beyond)),
  );
}

/**
 * How unsure the small model is of a problem before it answers: the normalized entropy of its first token, which follows
 * from the prompt alone. In [0, 1]; no number counts as fully unsure.
 */
export const promptUncertainty = ({ answers }: Run): number[] =>
  answers.map(({ signals }) => signals[0] ?? 1);
