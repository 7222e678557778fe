import type { RouterEntry } from '../../core/deployment.ts';
import type { SamplingParams } from '../../core/request.ts';
import { ReferenceLoop, type ReferenceAnswer } from './reference-loop.ts';
import { modelDir } from '../lib/model-dir.ts';

/** Largest feed of one step, in the running system and in the loop alike. */
export const MAX_NUM_BATCHED_TOKENS = 512;
/** The end token of the embedded models. */
const END_ID = 1;

/** How the tokens of every answer are drawn. */
export interface Mode {
  name: string;
  temperature: number;
  seed: (index: number) => number;
}

const samplingOf = ({ temperature, seed }: Mode, index: number): SamplingParams => ({
  temperature,
  topP: 1,
  topK: -1,
  minP: 0,
  seed: seed(index),
});

/**
 * What the reference loop answers to every prompt.
 * @param modelNames embedded models, the home first
 */
export async function referenceAnswers(
  modelNames: readonly string[],
  router: Pick<RouterEntry, 'use' | 'options'>,
  prompts: readonly (readonly number[])[],
  { mode, maxTokens }: { mode: Mode; maxTokens: number },
): Promise<ReferenceAnswer[]> {
  const models = modelNames.map((name) => ({ name, dir: modelDir(name) }));
  const loop = await ReferenceLoop.start({ models, router, maxNumBatchedTokens: MAX_NUM_BATCHED_TOKENS });
  try {
    const answers: ReferenceAnswer[] = [];
    for (const [index, prompt] of prompts.entries())
      answers.push(await loop.answer(prompt, samplingOf(mode, index), { maxTokens, stopIds: [END_ID] }));
    return answers;
  } finally {
    await loop.close();
  }
}
