import type { HeadSpec, StepRow } from '../../engine/engine.ts';
import { resolveOptions } from '../../engine/onnx/options.ts';
import type { Quantization } from '../../engine/onnx/weights/write-weights.ts';
import { WorkerCore } from '../../engine/onnx/worker-core.ts';
import { interleave } from '../engine/interleave.ts';
import { median } from '../handoff/statistics.ts';
import { medianInterval } from './median-interval.ts';

export interface HeadSettings {
  modelDir: string;
  /** `dummy`: random weights of the model's shape. */
  loadFormat: 'auto' | 'dummy';
  quantization: Quantization;
  rows: number;
  /** Tokens that each row holds before the measured steps. */
  contextTokens: number;
  numThreads: number;
  rounds: number;
}

/** What one network adds to a step. */
export interface HeadCost {
  name: string;
  /** A step without any network; median. */
  stepMs: number;
  /** Inside the network; median. */
  headMs: number;
  /** `headMs` over `stepMs`, in percent: less noisy than the difference of steps, but blind to what else changes. */
  insidePercent: number;
  /** (step with − step without) / step without, per round, in percent: median and its 95 % interval. */
  sharePercent: number;
  lowPercent: number;
  highPercent: number;
}

const GREEDY = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 };
const WITHOUT = 'without';

/**
 * Steps of one model, each feeding one token per row at the same position, in turn without and with each network. All
 * networks are loaded throughout: what they cost by being there is in the steps without them as well.
 * @param heads by the name that the result shall have
 */
export function measureHeads(settings: HeadSettings, heads: ReadonlyMap<string, HeadSpec>): HeadCost[] {
  const { rows: numRows, contextTokens, rounds } = settings;
  const core = new WorkerCore(
    resolveOptions({
      ...settings,
      modelId: 1,
      maxNumSeqs: numRows,
      maxModelLenTokens: contextTokens + 1,
      needs: { heads: [...heads.values()] },
    }),
  );
  try {
    prefill(core, settings);
    const rows = Array.from({ length: numRows }, (_, seq) => rowOf(seq, contextTokens, [3 + seq]));
    const headMs: Record<string, number[]> = {};
    const run = (name: string, specs: readonly HeadSpec[]) => (): number => {
      const { timing } = core.step(rows, specs.length === 0 ? {} : { heads: specs });
      (headMs[name] ??= []).push(timing.headMs ?? 0);
      return timing.totalMs;
    };
    const variants = Object.fromEntries([...heads].map(([name, head]) => [name, run(name, [head])]));
    const samples = interleave({ [WITHOUT]: run(WITHOUT, []), ...variants }, rounds);
    const without = samples[WITHOUT] ?? [];
    return [...heads.keys()].map((name) => {
      const shares = (samples[name] ?? []).map((ms, i) => 100 * (ms / (without[i] ?? NaN) - 1));
      const { median: sharePercent, low: lowPercent, high: highPercent } = medianInterval(shares);
      const inside = median((headMs[name] ?? []).slice(-rounds));
      const stepMs = median(without);
      const insidePercent = (100 * inside) / stepMs;
      return { name, stepMs, headMs: inside, insidePercent, sharePercent, lowPercent, highPercent };
    });
  } finally {
    core.close();
  }
}

const rowOf = (seq: number, past: number, tokens: readonly number[]): StepRow => ({
  seq,
  past,
  tokens,
  sample: true,
  sampling: GREEDY,
});

function prefill(core: WorkerCore, { rows, contextTokens }: HeadSettings): void {
  const prompt = Array.from({ length: contextTokens }, (_, i) => 3 + (i % 500));
  for (let seq = 0; seq < rows; seq += 1) core.step([rowOf(seq, 0, prompt)], {});
}
