import { parentPort, workerData } from 'node:worker_threads';
import type { EncodeAnswer, EncodeJob } from './background-encoder.ts';
import { loadTokenizer } from './tokenizer.ts';

/** The thread behind `BackgroundEncoder`. */
const { dir } = workerData as { dir: string };
const tokenizer = loadTokenizer(dir);

function answer({ id, text, options }: EncodeJob): EncodeAnswer {
  try {
    return { id, ids: Int32Array.from(tokenizer.encode(text, options)) };
  } catch (thrown) {
    return { id, error: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

parentPort?.on('message', (job: EncodeJob) => {
  const result = answer(job);
  parentPort?.postMessage(result, 'ids' in result ? [result.ids.buffer as ArrayBuffer] : []);
});
