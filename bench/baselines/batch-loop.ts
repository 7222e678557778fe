import type { Engine, SampledRow, SignalNeeds, StepRow } from '../../engine/engine.ts';
import { nextFeed, type RoutedRequest } from './routed-request.ts';
import { step } from './step.ts';

/** A sequence in a continuous batch. */
export interface BatchJob {
  one: RoutedRequest;
  seq: number;
  /** Leading tokens whose KV the engine holds. */
  kvLen: number;
}

export interface BatchLoopOptions {
  engine: Engine;
  needs: SignalNeeds;
  maxNumSeqs: number;
  /** Tokens of one step at most; longer prompts are fed in chunks. */
  maxNumBatchedTokens: number;
  /** Rows that sampled, once per step. They have left the queue; whoever goes on must be added again. */
  onRows: (rows: readonly { job: BatchJob; result: SampledRow }[]) => void;
  onFailure: (jobs: readonly BatchJob[], error: unknown) => void;
}

/**
 * Continuous batching as a standard server does it: whenever the engine is idle and something waits, a step over all
 * that waits, decodes before prompts, prompts in chunks.
 */
export class BatchLoop {
  private readonly options: BatchLoopOptions;
  private readonly queue = new Set<BatchJob>();
  private isLooking = false;
  private isClosed = false;
  private inFlight: Promise<void> | undefined;

  constructor(options: BatchLoopOptions) {
    this.options = options;
  }

  /** Queues a sequence whose last token is not fed yet. */
  add(job: BatchJob): void {
    this.queue.add(job);
    this.wake();
  }

  /** No further steps; resolves when the one in flight has ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.inFlight;
  }

  /** Looks after the current turn of the event loop: what arrives together is seen together. */
  private wake(): void {
    if (this.isLooking || this.inFlight || this.isClosed) return;
    this.isLooking = true;
    setImmediate(() => {
      this.isLooking = false;
      if (!this.isClosed && !this.inFlight && this.queue.size > 0) this.inFlight = this.run();
    });
  }

  private choose(): { job: BatchJob; feed: StepRow }[] {
    const { maxNumSeqs, maxNumBatchedTokens } = this.options;
    const missing = (job: BatchJob): number => job.one.tokens.length - job.kvLen;
    const byLength = [...this.queue].sort((a, b) => Number(missing(a) > 16) - Number(missing(b) > 16));
    let budget = maxNumBatchedTokens;
    const chosen = [];
    for (const job of byLength.slice(0, maxNumSeqs)) {
      if (budget <= 0) break;
      const feed = nextFeed(job.seq, job.one, job.kvLen, budget);
      budget -= feed.tokens.length;
      chosen.push({ job, feed });
      this.queue.delete(job);
    }
    return chosen;
  }

  private async run(): Promise<void> {
    const chosen = this.choose();
    const { engine, needs, onRows, onFailure } = this.options;
    try {
      const results = await step(
        engine,
        chosen.map(({ feed }) => feed),
        needs,
      );
      const sampled = chosen.flatMap(({ job, feed }, i) => {
        job.kvLen = feed.past + feed.tokens.length;
        const result = results[i];
        if (result) return [{ job, result }];
        this.queue.add(job); // more of the prompt to feed
        return [];
      });
      if (sampled.length > 0 && !this.isClosed) onRows(sampled);
    } catch (thrown) {
      onFailure(
        chosen.map(({ job }) => job),
        thrown,
      );
    }
    this.inFlight = undefined;
    if (this.queue.size > 0) this.wake();
  }
}
