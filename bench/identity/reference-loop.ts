import { SystemClock } from '../../core/system-clock.ts';
import { silentLogger } from '../../core/log.ts';
import type { ModelId, SamplingParams } from '../../core/request.ts';
import type { Engine, SampledRow, StepRow } from '../../engine/engine.ts';
import { createOnnxEngine } from '../../engine/onnx/index.ts';
import { rStitch } from '../../routers/r-stitch.ts';
import type { Router } from '../../routers/router.ts';
import { drawDistance } from './draw-distance.ts';

export interface ReferenceAnswer {
  ids: number[];
  models: ModelId[];
  /**
   * Per token: how far the nearest decision behind it was from falling the other way. Greedy: difference of the
   * two largest logits; sampled: distance of the draw from the edges of its token's interval; in both cases the
   * distance of the signal from the threshold as well.
   */
  distances: number[];
}

export interface ReferenceOptions {
  /** Checkpoint directories, the home first. */
  modelDirs: readonly [string, string];
  threshold: number;
  /** Largest feed of one step, as in the deployment. */
  maxNumBatchedTokens: number;
}

interface Side {
  engine: Engine;
  router: Router;
  kvLen: number;
}

/**
 * The plain loop: one request at a time, one model at a time, no batches, no queues, no messages; the same
 * engine with the same feed lengths as the running system. What the system answers is compared with this.
 */
export class ReferenceLoop {
  private readonly sides: readonly Side[];
  private readonly threshold: number;
  private readonly maxFeed: number;
  private nextSeq = 1;

  private constructor(sides: readonly Side[], options: ReferenceOptions) {
    this.sides = sides;
    this.threshold = options.threshold;
    this.maxFeed = options.maxNumBatchedTokens;
  }

  static async start(options: ReferenceOptions): Promise<ReferenceLoop> {
    const models = [
      { id: 1, name: 'small' },
      { id: 2, name: 'large' },
    ];
    const deps = { logger: silentLogger, clock: new SystemClock() };
    const sides = options.modelDirs.map((modelDir, index) => {
      const engine = createOnnxEngine(
        {
          modelDir,
          modelId: index + 1,
          loadFormat: 'auto',
          quantization: 'none',
          numThreads: 1,
          maxNumSeqs: 1,
          needs: { logits: true },
        },
        deps,
      );
      const context = { self: index + 1, home: 1, models, options: { threshold: options.threshold } };
      return { engine, router: rStitch(context), kvLen: 0 };
    });
    for (const { engine } of sides) await engine.start();
    return new ReferenceLoop(sides, options);
  }

  async answer(
    prompt: readonly number[],
    sampling: SamplingParams,
    limits: { maxTokens: number; stopIds: readonly number[] },
  ): Promise<ReferenceAnswer> {
    const seq = this.nextSeq++;
    const tokens = [...prompt];
    const answer: ReferenceAnswer = { ids: [], models: [], distances: [] };
    for (const side of this.sides) side.kvLen = 0;
    let at = 0;
    let distance = Infinity;
    while (answer.ids.length < limits.maxTokens) {
      const side = this.sides[at] as Side;
      const row = await this.feed(side, seq, tokens, sampling);
      const isHome = at === 0;
      const routeRow = {
        ...row,
        rid: 'reference',
        position: tokens.length,
        numGenerated: answer.ids.length,
        sampling,
        tokens,
        numSinceArrival: 1,
      };
      const leaves = (side.router.route([routeRow])[0] ?? 0) !== 0;
      const toThreshold = Math.abs(row.normalizedEntropy - this.threshold);
      if (isHome) distance = Math.min(distance, toThreshold);
      if (!(isHome && leaves)) {
        distance = Math.min(distance, this.choiceDistance(row, at + 1, tokens.length, sampling));
        tokens.push(row.sampled);
        answer.ids.push(row.sampled);
        answer.models.push(at + 1);
        answer.distances.push(distance);
        distance = isHome ? Infinity : toThreshold; // who writes the next token
        if (limits.stopIds.includes(row.sampled)) break;
      }
      if (leaves) at = 1 - at;
    }
    for (const { engine } of this.sides) engine.release([seq]);
    return answer;
  }

  async close(): Promise<void> {
    for (const { engine } of this.sides) await engine.close();
  }

  private choiceDistance(
    row: SampledRow,
    model: ModelId,
    position: number,
    sampling: SamplingParams,
  ): number {
    if (sampling.temperature === 0 || !row.logits) return row.top2Margin;
    return drawDistance(row.logits, row.sampled, { model, position, sampling });
  }

  private async feed(
    side: Side,
    seq: number,
    tokens: readonly number[],
    sampling: SamplingParams,
  ): Promise<SampledRow> {
    for (;;) {
      const past = Math.min(side.kvLen, tokens.length - 1);
      const fed = tokens.slice(past, past + this.maxFeed);
      const isComplete = past + fed.length === tokens.length;
      const row = await this.step(side.engine, { seq, past, tokens: fed, sample: isComplete, sampling });
      side.kvLen = past + fed.length;
      if (isComplete) return row;
    }
  }

  private step(engine: Engine, row: StepRow): Promise<SampledRow> {
    return new Promise((resolve, reject) => {
      engine.step({ rows: [row], needs: { logits: true } }, (outcome) => {
        const result = outcome.ok ? outcome.rows[0] : undefined;
        if (result?.ok) resolve(result);
        else reject(outcome.ok ? new Error(result?.message ?? 'no row') : outcome.error);
      });
    });
  }
}
