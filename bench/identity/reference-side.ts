import { silentLogger } from '../../core/log.ts';
import type { ModelId, SamplingParams } from '../../core/request.ts';
import { SystemClock } from '../../core/system-clock.ts';
import type { Engine, SampledRow, SignalNeeds, StepRow } from '../../engine/engine.ts';
import { createOnnxEngine } from '../../engine/onnx/index.ts';
import type { Router } from '../../routers/router.ts';

/** One model of the reference loop: an engine of its own, for one row at a time. */
export class ReferenceSide {
  readonly router: Router;
  private readonly engine: Engine;
  private readonly needs: SignalNeeds;
  private readonly maxFeed: number;
  private kvLen = 0;

  private constructor(engine: Engine, router: Router, needs: SignalNeeds, maxFeed: number) {
    this.engine = engine;
    this.router = router;
    this.needs = needs;
    this.maxFeed = maxFeed;
  }

  /** @param maxFeed largest feed of one step, as in the deployment */
  static async start(
    modelDir: string,
    modelId: ModelId,
    router: Router,
    maxFeed: number,
  ): Promise<ReferenceSide> {
    const needs = { ...router.needs, logits: true };
    const engine = createOnnxEngine(
      { modelDir, modelId, loadFormat: 'auto', quantization: 'none', numThreads: 1, maxNumSeqs: 1, needs },
      { logger: silentLogger, clock: new SystemClock() },
    );
    await engine.start();
    return new ReferenceSide(engine, router, needs, maxFeed);
  }

  forget(seq: number): void {
    this.engine.release([seq]);
    this.kvLen = 0;
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  /** Feeds what this model has not seen of the sequence, and samples the next token. */
  async next(seq: number, tokens: readonly number[], sampling: SamplingParams): Promise<SampledRow> {
    for (;;) {
      const past = Math.min(this.kvLen, tokens.length - 1);
      const fed = tokens.slice(past, past + this.maxFeed);
      const isComplete = past + fed.length === tokens.length;
      const row = await this.step({ seq, past, tokens: fed, sample: isComplete, sampling });
      this.kvLen = past + fed.length;
      if (isComplete) return row;
    }
  }

  private step(row: StepRow): Promise<SampledRow> {
    return new Promise((resolve, reject) => {
      this.engine.step({ rows: [row], needs: this.needs }, (outcome) => {
        const result = outcome.ok ? outcome.rows[0] : undefined;
        if (result?.ok) resolve(result);
        else reject(outcome.ok ? new Error(result?.message ?? 'no row') : outcome.error);
      });
    });
  }
}
