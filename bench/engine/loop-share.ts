import { silentLogger } from '../../core/log.ts';
import { SystemClock } from '../../core/system-clock.ts';
import type { Engine, StepRow } from '../../engine/engine.ts';
import { createOnnxEngine } from '../../engine/onnx/index.ts';
import { SMOLLM2_DIR, type BenchSettings } from './bench-model.ts';
import { median } from '../handoff/statistics.ts';
import type { Measurement } from './measurement.ts';

const PROMPT_TOKENS = 16;
const GREEDY = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 };

/**
 * How much of a decoding loop's wall time is spent inside the runtime's `run()`. The loop goes through the public
 * engine: batch to the worker, step, sampling, result back, next batch. Short contexts, so that `run()` is short.
 */
export async function measureLoopShare(settings: BenchSettings, steps: number): Promise<Measurement[]> {
  const engine = createOnnxEngine(
    {
      modelDir: SMOLLM2_DIR,
      modelId: 1,
      loadFormat: 'dummy',
      quantization: settings.quantization,
      numThreads: settings.numThreads,
      maxNumSeqs: settings.rows,
      maxModelLenTokens: PROMPT_TOKENS + steps + 1,
    },
    { logger: silentLogger, clock: new SystemClock() },
  );
  await engine.start();
  try {
    const prompt = Array.from({ length: PROMPT_TOKENS }, (_, i) => 3 + i);
    let rows = Array.from({ length: settings.rows }, (_, seq): StepRow => ({
      seq,
      past: 0,
      tokens: prompt,
      sample: true,
      sampling: GREEDY,
    }));
    rows = next(rows, await step(engine, rows));
    const shares: number[] = [];
    for (let i = 0; i < steps; i += 1) {
      const startMs = performance.now();
      const outcome = await step(engine, rows);
      rows = next(rows, outcome);
      shares.push(outcome.timing.runMs / (performance.now() - startMs));
    }
    const name = `decoding loop inside run(), ${settings.rows} rows, whole engine with its thread`;
    return [{ name, value: 100 * median(shares), unit: '%', atLeast: 90 }];
  } finally {
    await engine.close();
  }
}

function step(engine: Engine, rows: readonly StepRow[]) {
  return new Promise<{ sampled: number[]; timing: { runMs: number } }>((resolve, reject) => {
    engine.step({ rows, needs: {} }, (outcome) => {
      if (!outcome.ok) reject(outcome.error);
      else
        resolve({ sampled: outcome.rows.map((row) => (row.ok ? row.sampled : 0)), timing: outcome.timing });
    });
  });
}

const next = (rows: readonly StepRow[], { sampled }: { sampled: number[] }): StepRow[] =>
  rows.map((row, i) => ({ ...row, past: row.past + row.tokens.length, tokens: [sampled[i] ?? 0] }));
