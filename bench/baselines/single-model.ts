import type { ModelId } from '../../core/request.ts';
import type { Engine } from '../../engine/engine.ts';
import { BatchLoop } from './batch-loop.ts';
import type { BenchRequest, Driver, RequestSink } from './driver.ts';
import { RoutedRequest } from './routed-request.ts';

export interface SingleModelOptions {
  name: 'small-only' | 'large-only';
  model: ModelId;
  engine: Engine;
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
}

/**
 * One model alone with continuous batching: what the pair is measured against from below (small) and from the side of
 * the quality that it wants to keep (large). It has all cores to itself, no router and no bus.
 */
export class SingleModelDriver implements Driver {
  readonly name: string;
  private readonly options: SingleModelOptions;
  private readonly loop: BatchLoop;
  private sink: RequestSink | undefined;
  private nextSeq = 1;
  private isClosed = false;

  constructor(options: SingleModelOptions) {
    this.name = options.name;
    this.options = options;
    const { engine, maxNumSeqs, maxNumBatchedTokens } = options;
    this.loop = new BatchLoop({
      engine,
      needs: {},
      maxNumSeqs,
      maxNumBatchedTokens,
      onRows: (rows) => {
        for (const { job, result } of rows) {
          const { one } = job;
          one.tokens.push(result.sampled);
          this.sink?.onTokens(one.request.id, [result.sampled], [options.model]);
          const isLast =
            one.request.stopIds.includes(result.sampled) || one.numGenerated >= one.request.maxTokens;
          if (isLast) this.end(one.request.id, job.seq);
          else this.loop.add(job);
        }
      },
      onFailure: (jobs, error) =>
        jobs.forEach(({ one, seq }) => this.end(one.request.id, seq, String(error))),
    });
  }

  async start(sink: RequestSink): Promise<void> {
    this.sink = sink;
    await this.options.engine.start();
  }

  submit(request: BenchRequest): void {
    this.loop.add({ one: new RoutedRequest(request), seq: this.nextSeq, kvLen: 0 });
    this.nextSeq += 1;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.loop.close();
    await this.options.engine.close();
  }

  private end(id: number, seq: number, failure?: string): void {
    this.options.engine.release([seq]);
    if (!this.isClosed) this.sink?.onEnd(id, failure);
  }
}
