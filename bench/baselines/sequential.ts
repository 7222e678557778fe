import { TokenrailError } from '../../core/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Router } from '../../routers/router.ts';
import type { BenchRequest, Driver, RequestSink } from './driver.ts';
import { HOME, nextFeed, RoutedRequest, settle } from './routed-request.ts';
import { step } from './step.ts';

/** One model of a baseline: its engine and its instance of the router. */
export interface ModelSide {
  engine: Engine;
  router: Router;
}

export interface SequentialOptions {
  /** Home first, then the guest. */
  sides: readonly [ModelSide, ModelSide];
  /** Tokens of one step at most. */
  maxNumBatchedTokens: number;
  /** Told of every decision, for {@link ReferenceAnswer}s: distance of the choice from falling the other way. */
  onDistance?: (one: RoutedRequest, top2Margin: number, normalizedEntropy: number) => void;
}

/**
 * Research code: one request at a time, one row per step, one model at a time. The small model keeps its KV; the
 * large one is called like a function of the text: every visit computes the whole prefix again.
 *
 * Keeps: KV at the small model, and KV within one visit of the large one. Lacks: batches, overlap of the models, KV
 * of the large model between visits. There is no server, no bus and no client: tokens are handed over by a call.
 */
export class SequentialDriver implements Driver {
  readonly name = 'sequential';
  private readonly options: SequentialOptions;
  private readonly queue: BenchRequest[] = [];
  private sink: RequestSink | undefined;
  private nextSeq = 1;
  private running: Promise<void> | undefined;
  private isClosed = false;

  constructor(options: SequentialOptions) {
    this.options = options;
  }

  async start(sink: RequestSink): Promise<void> {
    this.sink = sink;
    for (const { engine } of this.options.sides) await engine.start();
  }

  submit(request: BenchRequest): void {
    this.queue.push(request);
    this.running ??= this.work();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.running;
    for (const { engine } of this.options.sides) await engine.close();
  }

  private async work(): Promise<void> {
    for (;;) {
      // A turn of the event loop first: `submit` never calls the sink.
      await new Promise((resolve) => setImmediate(resolve));
      const request = this.isClosed ? undefined : this.queue.shift();
      if (request === undefined) break;
      const failure = await this.answer(request).catch((thrown: unknown) => String(thrown));
      if (!this.isClosed) this.sink?.onEnd(request.id, failure);
    }
    this.running = undefined;
  }

  private async answer(request: BenchRequest): Promise<string | undefined> {
    const one = new RoutedRequest(request);
    const seq = this.nextSeq;
    this.nextSeq += 1;
    let kvLen = 0;
    let isAtHome = true;
    let homeKvLen = 0;
    while (!one.isOver && !this.isClosed) {
      const { engine, router } = this.sideOf(one);
      const feed = nextFeed(seq, one, kvLen, this.options.maxNumBatchedTokens);
      const [result] = await step(engine, [feed], router.needs);
      kvLen = feed.past + feed.tokens.length;
      if (result === undefined) continue;
      this.options.onDistance?.(one, result.top2Margin, result.normalizedEntropy);
      const [settled] = settle(router, [{ one, result }]);
      if (settled?.isCommitted) {
        const model = one.models.at(-1) ?? HOME;
        this.sink?.onTokens(request.id, [result.sampled], [model]);
      }
      if (!settled?.hasMoved) continue;
      if (isAtHome) homeKvLen = kvLen;
      isAtHome = one.at === HOME;
      kvLen = isAtHome ? homeKvLen : 0;
    }
    for (const { engine } of this.options.sides) engine.release([seq]);
    return undefined;
  }

  private sideOf(one: RoutedRequest): ModelSide {
    const side = this.options.sides[one.at - 1];
    if (side) return side;
    throw new TokenrailError(
      'config_invalid',
      `baselines serve two models; the router chose model ${one.at}`,
    );
  }
}
