import { onTestFinished } from 'vitest';
import type { SamplingParams } from '../../../../core/request.ts';
import type { RowResult, SampledRow, StepRow } from '../../../../engine/engine.ts';
import { resolveOptions, type OnnxEngineOptions } from '../../../../engine/onnx/options.ts';
import { WorkerCore } from '../../../../engine/onnx/worker-core.ts';
import { DEFAULTS } from './golden-run.ts';

export const GREEDY: SamplingParams = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 };

/** The worker's inside on this thread; closed after the test. */
export function openCore(modelDir: string, options: Partial<OnnxEngineOptions> = {}): WorkerCore {
  const core = new WorkerCore(resolveOptions({ ...DEFAULTS, modelDir, ...options }));
  onTestFinished(() => core.close());
  return core;
}

export function rowOf(
  seq: number,
  past: number,
  tokens: readonly number[],
  extra: Partial<StepRow> = {},
): StepRow {
  return { seq, past, tokens, sample: true, sampling: GREEDY, ...extra };
}

export function sampled(row: RowResult | undefined): SampledRow {
  if (row?.ok !== true) throw new Error(`the row failed: ${row?.message ?? 'missing'}`);
  return row;
}
