import type { EngineInfo, RowResult, SignalNeeds, StepRow, StepTiming } from '../engine.ts';
import { countParameters } from './checkpoint/expected-tensors.ts';
import { loadModel, type LoadedModel } from './load-model.ts';
import { scoreRows } from './heads/score-rows.ts';
import type { ResolvedOptions } from './options.ts';
import type { OfferedSignals } from './protocol.ts';
import { failedRow, sampledRow, unsampledRow, type ResultContext } from './row-result.ts';
import { CachePool } from './runtime/sequence-cache.ts';
import { stepNowMs } from './step-timer.ts';
import { WEIGHT } from './weights/weight-names.ts';

/** Everything of the engine that runs on the worker's thread; synchronous throughout. */
export class WorkerCore {
  readonly info: EngineInfo;
  /** Where the vocabulary is smaller than `topK`, rows bring all of it. */
  readonly offered: OfferedSignals;
  private readonly model: LoadedModel;
  private readonly caches: CachePool;
  private readonly context: ResultContext;

  /** Loads the model. @throws TokenrailError `checkpoint_invalid`, `config_invalid`, `engine_failed` */
  constructor(options: ResolvedOptions) {
    this.model = loadModel(options);
    this.offered = { topK: options.topK, heads: [...this.model.heads.keys()] };
    const { config, limits, files } = this.model;
    this.caches = new CachePool(config, limits.maxModelLenTokens, limits.maxNumSeqs);
    this.context = {
      modelId: options.modelId,
      vocabSize: config.vocabSize,
      sampledVocab: limits.sampledVocab,
      embeddingOf: (token) => files.weights.readRow(WEIGHT.embedding, token),
    };
    this.info = {
      kind: 'onnx',
      hasRandomWeights: options.loadFormat === 'dummy',
      architecture: config.architecture,
      numParameters: countParameters(config),
      vocabSize: config.vocabSize,
      hiddenSize: config.hiddenSize,
      maxModelLenTokens: limits.maxModelLenTokens,
      maxNumSeqs: limits.maxNumSeqs,
      numKvBlocks: limits.numKvBlocks,
      blockSizeTokens: options.blockSizeTokens,
      eosIds: config.eosIds,
      notes: this.model.notes,
    };
  }

  step(rows: readonly StepRow[], needs: SignalNeeds): { rows: RowResult[]; timing: StepTiming } {
    const startMs = stepNowMs();
    const fed = rows.map((row) => ({
      cache: this.caches.take(row.seq),
      past: row.past,
      tokens: row.tokens,
      wanted: row.sample ? ('last' as const) : ('none' as const),
    }));
    const { outputs, firstPositions, runMs } = this.model.runner.run(fed);
    let firstToken = 0;
    const results = rows.map((row, index) => {
      const position = firstPositions[index] ?? -1;
      const areFinite = outputs.areFinite(firstToken, row.tokens.length);
      firstToken += row.tokens.length;
      if (!areFinite) return failedRow(row.seq);
      if (position < 0) return unsampledRow(row.seq);
      return sampledRow(row, outputs, position, row.needs ?? needs, this.context);
    });
    if (needs.heads === undefined)
      return { rows: results, timing: { runMs, totalMs: stepNowMs() - startMs } };
    const headStartMs = stepNowMs();
    scoreRows(this.model.heads, needs, rows, results, firstPositions, outputs);
    const headMs = stepNowMs() - headStartMs;
    return { rows: results, timing: { runMs: runMs + headMs, headMs, totalMs: stepNowMs() - startMs } };
  }

  release(seqs: readonly number[]): void {
    for (const seq of seqs) {
      const dropped = this.caches.release(seq);
      if (dropped !== undefined) this.model.runner.forget(dropped);
    }
  }

  close(): void {
    this.model.runner.close();
    for (const head of this.model.heads.values()) head.close();
    this.model.files.close();
  }
}
