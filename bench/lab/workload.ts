import { uniform } from '../../core/random.ts';
import type { SamplingParams } from '../../core/request.ts';
import { loadChatTemplate } from '../../engine/chat-template.ts';
import { loadTokenizer } from '../../engine/tokenizer.ts';
import type { BenchRequest } from '../baselines/driver.ts';
import { loadProblems } from '../lib/problems.ts';

/** Where the requests of a closed loop come from. Equal ids mean equal requests. */
export interface Workload {
  /** For people and JSON. */
  description: string;
  /** Longest sequence, prompt and answer. */
  maxLenTokens: number;
  /** The request in `slot` when the measurement begins. */
  first(slot: number, concurrency: number): BenchRequest;
  /** A fresh request that takes the place of one that ended. */
  next(id: number): BenchRequest;
}

const greedy = (seed: number): SamplingParams => ({ temperature: 0, topP: 1, topK: -1, minP: 0, seed });

const EOS_ID = 1;
const MAX_ANSWER_TOKENS = 400;

/** Word problems of the embedded models, answered to the end. */
export function problemWorkload(modelDir: string): Workload {
  const tokenizer = loadTokenizer(modelDir);
  const template = loadChatTemplate(modelDir);
  if (template === undefined) throw new Error(`${modelDir} has no chat template`);
  const prompts = loadProblems('test', 400).map(({ question }) => {
    const options = { disarm: (text: string) => tokenizer.disarm(text), epochMs: 0 };
    const text = template.render([{ role: 'user', content: question }], options);
    return tokenizer.encode(text, { parseSpecial: true, addSpecialTokens: false });
  });
  const next = (id: number): BenchRequest => ({
    id,
    tokens: prompts[id % prompts.length] ?? [],
    maxTokens: MAX_ANSWER_TOKENS,
    stopIds: [EOS_ID],
    sampling: greedy(id),
  });
  return {
    description: `held-out word problems, greedy, answered to the end (at most ${MAX_ANSWER_TOKENS} tokens)`,
    maxLenTokens: 512,
    first: (slot) => next(slot),
    next,
  };
}

export interface FixedLengthOptions {
  promptTokens: number;
  outputTokens: number;
  vocabSize: number;
}

/**
 * Answers of a fixed length. A closed loop that has run for long has requests of every age: to measure it in seconds
 * instead of minutes, the first requests start with the part of their answer that they would have by then as prompt,
 * ages spread evenly; later ones start with a fresh prompt.
 */
export function fixedLengthWorkload(options: FixedLengthOptions): Workload {
  const { promptTokens, outputTokens, vocabSize } = options;
  const request = (id: number, age: number): BenchRequest => ({
    id,
    tokens: Array.from({ length: promptTokens + age }, (_, position) =>
      Math.floor(3 + (vocabSize - 3) * uniform({ seed: id, position, model: 0, purpose: 'simulation' })),
    ),
    maxTokens: outputTokens - age,
    stopIds: [],
    sampling: greedy(id),
  });
  return {
    description: `${promptTokens} random ids as prompt, ${outputTokens} tokens, requests of all ages (the first ones start with a part of their answer as prompt)`,
    maxLenTokens: promptTokens + outputTokens,
    first: (slot, concurrency) =>
      request(slot, Math.min(outputTokens - 1, Math.floor(((slot + 0.5) / concurrency) * outputTokens))),
    next: (id) => request(id, 0),
  };
}
