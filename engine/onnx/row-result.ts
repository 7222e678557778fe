import { TokenrailError } from '../../core/errors.ts';
import { uniform } from '../../core/random.ts';
import type { RowResult, SampledRow, SignalNeeds, StepRow } from '../engine.ts';
import { sampleToken } from '../sampler.ts';
import type { StepOutputs } from './runtime/step-outputs.ts';

/** Facts about the model that every row's result depends on. */
export interface ResultContext {
  modelId: number;
  vocabSize: number;
  /** Ids below this may be sampled. */
  sampledVocab: number;
  /** A row of the input embedding. */
  embeddingOf: (token: number) => Float32Array;
}

/** Above this share of padding the subtraction below would cancel; the whole row is summed instead. */
const MAX_PADDED_MASS = 0.5;

/** The result of a row that was fed but not sampled. Its signals are NaN. */
export function unsampledRow(seq: number): SampledRow {
  return {
    seq,
    ok: true,
    sampled: -1,
    logprob: NaN,
    entropyNats: NaN,
    normalizedEntropy: NaN,
    top2Margin: NaN,
  };
}

/** Samples a row from the signals at `position` and copies what the routers asked for. */
export function sampledRow(
  row: StepRow,
  outputs: StepOutputs,
  position: number,
  needs: SignalNeeds,
  context: ResultContext,
): RowResult {
  const { logSumExp, entropy } = outputs.signals(position);
  if (!Number.isFinite(entropy) || !Number.isFinite(logSumExp)) {
    return failedRow(row.seq);
  }
  const topValues = outputs.topValues(position);
  const topIds = outputs.topIds(position);
  const sampled = draw(row, outputs, position, topIds, context);
  if (typeof sampled !== 'number') return sampled;
  const listed = topIds.indexOf(sampled);
  const logit = listed >= 0 ? topValues[listed] : outputs.logits(position)[sampled];
  const entropyNats = Math.max(0, entropy);
  return {
    seq: row.seq,
    ok: true,
    sampled,
    logprob: Math.min(0, (logit ?? NaN) - logSumExp),
    entropyNats,
    normalizedEntropy: Math.min(1, entropyNats / Math.log(context.vocabSize)),
    logSumExp,
    top2Margin: (topValues[0] ?? NaN) - (topValues[1] ?? -Infinity),
    ...(needs.topK === undefined
      ? {}
      : { topValues: topValues.slice(0, needs.topK), topIds: topIds.slice(0, needs.topK) }),
    ...(needs.hidden === true ? { hidden: outputs.hidden(position).slice() } : {}),
    ...(needs.embedding === true ? { embedding: context.embeddingOf(sampled) } : {}),
    ...(needs.logits === true ? { logits: outputs.logits(position).slice() } : {}),
  };
}

function draw(
  row: StepRow,
  outputs: StepOutputs,
  position: number,
  topIds: Int32Array,
  context: ResultContext,
): number | RowResult {
  const { logSumExp, paddedMass } = outputs.signals(position);
  const hasExactSum = paddedMass < MAX_PADDED_MASS;
  const u = uniform({
    seed: row.sampling.seed,
    position: row.past + row.tokens.length,
    model: context.modelId,
    purpose: 'sample',
  });
  const input = {
    topValues: outputs.topValues(position),
    topIds,
    // Without the padding, where that loses no precision: the sampler then knows the rest's mass exactly.
    logSumExp: hasExactSum ? logSumExp + Math.log1p(-paddedMass) : logSumExp,
    logitsWidth: hasExactSum ? context.sampledVocab : context.vocabSize,
    vocabLimit: context.sampledVocab,
    readLogits: () => outputs.logits(position),
  };
  try {
    return sampleToken(input, row.sampling, u).token;
  } catch (error) {
    if (error instanceof TokenrailError && error.code === 'numerical_failure')
      return failedRow(row.seq, error.message);
    throw error;
  }
}

/** The result of a row whose numbers went wrong. */
export function failedRow(seq: number, message = 'the model produced NaN or infinite values'): RowResult {
  return { seq, ok: false, code: 'numerical_failure', message };
}
