import type { StepRow } from '../../engine/engine.ts';
import type { BenchRequest, Driver, RequestSink } from './driver.ts';
import { HOME, nextFeed, RoutedRequest, settle } from './routed-request.ts';
import type { ModelSide } from './sequential.ts';
import { step } from './step.ts';

export interface LockstepOptions {
  /** Home first, then the guest. */
  sides: readonly [ModelSide, ModelSide];
  maxNumSeqs: number;
  /** Tokens of one step at most. */
  maxNumBatchedTokens: number;
}

interface Live {
  one: RoutedRequest;
  seq: number;
  /** Known leading tokens per model. */
  kvLen: [number, number];
}

/**
 * One step loop for everybody: a step of the small model over all its requests, routing, a step of the large model
 * over those that went there, and again from the beginning. Everybody waits for everybody; the models never run at
 * the same time, so each step may use all cores.
 *
 * Keeps: batches, KV of both models between visits. Lacks: overlap of the models, steps at a model's own pace, any
 * choice of when to start. There is no bus: tokens are handed over by a call, and a handoff costs nothing.
 */
export class LockstepDriver implements Driver {
  readonly name = 'lockstep';
  private readonly options: LockstepOptions;
  private readonly live = new Map<number, Live>();
  private sink: RequestSink | undefined;
  private nextSeq = 1;
  private running: Promise<void> | undefined;
  private isClosed = false;

  constructor(options: LockstepOptions) {
    this.options = options;
  }

  async start(sink: RequestSink): Promise<void> {
    this.sink = sink;
    for (const { engine } of this.options.sides) await engine.start();
  }

  submit(request: BenchRequest): void {
    this.live.set(request.id, { one: new RoutedRequest(request), seq: this.nextSeq, kvLen: [0, 0] });
    this.nextSeq += 1;
    this.running ??= this.work();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.running;
    for (const { engine } of this.options.sides) await engine.close();
  }

  private async work(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.isClosed || this.live.size === 0) break;
      try {
        await this.stepOf(1);
        await this.stepOf(2);
      } catch (thrown) {
        for (const id of [...this.live.keys()]) this.end(id, String(thrown));
      }
    }
    this.running = undefined;
  }

  /** One step of a model over the requests that are there. */
  private async stepOf(model: 1 | 2): Promise<void> {
    const side = this.options.sides[model - 1];
    const index = model - 1;
    const chosen: Live[] = [];
    const feeds: StepRow[] = [];
    let budget = this.options.maxNumBatchedTokens;
    for (const live of this.live.values()) {
      if (live.one.at !== model || budget <= 0 || feeds.length >= this.options.maxNumSeqs) continue;
      const feed = nextFeed(live.seq, live.one, live.kvLen[index] ?? 0, budget);
      budget -= feed.tokens.length;
      chosen.push(live);
      feeds.push(feed);
    }
    if (side === undefined || feeds.length === 0 || this.isClosed) return;
    const results = await step(side.engine, feeds, side.router.needs);
    const sampled = chosen.flatMap((live, i) => {
      const feed = feeds[i];
      if (feed) live.kvLen[index] = feed.past + feed.tokens.length;
      const result = results[i];
      return result ? [{ live, one: live.one, result }] : [];
    });
    if (sampled.length === 0) return;
    const settled = settle(side.router, sampled);
    sampled.forEach(({ live, one, result }, i) => {
      if (settled[i]?.isCommitted)
        this.sink?.onTokens(one.request.id, [result.sampled], [one.models.at(-1) ?? HOME]);
      if (one.isOver) this.end(live.one.request.id);
    });
    this.rotate(chosen);
  }

  /** Those that had a turn go to the end: with more requests than rows nobody starves. */
  private rotate(chosen: readonly Live[]): void {
    for (const live of chosen) {
      if (!this.live.delete(live.one.request.id)) continue;
      this.live.set(live.one.request.id, live);
    }
  }

  private end(id: number, failure?: string): void {
    const live = this.live.get(id);
    if (live === undefined) return;
    this.live.delete(id);
    for (const { engine } of this.options.sides) engine.release([live.seq]);
    if (!this.isClosed) this.sink?.onEnd(id, failure);
  }
}
