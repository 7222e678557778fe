import type { Engine } from '../../engine/engine.ts';
import type { Router } from '../../routers/router.ts';
import type { Bus } from '../../transport/bus.ts';
import { BatchLoop, type BatchJob } from './batch-loop.ts';
import type { BenchRequest, Driver, RequestSink } from './driver.ts';
import { PrefixCache } from './prefix-cache.ts';
import {
  decodeRequest,
  decodeUpdates,
  encodeRequest,
  encodeUpdates,
  type RestartUpdate,
} from './restart-wire.ts';
import { HOME, RoutedRequest, settle } from './routed-request.ts';

const CLIENT = 'bench.restart.client';
const subjectOf = (model: number): string => `bench.restart.model.${model}`;

export interface RestartSide {
  engine: Engine;
  router: Router;
  /** Connection of this server. */
  bus: Bus;
}

export interface RestartOptions {
  sides: readonly [RestartSide, RestartSide];
  /** Connection of the client. */
  clientBus: Bus;
  maxNumSeqs: number;
  maxNumBatchedTokens: number;
}

/** One standard server: continuous batching and a prefix cache; a request ends when the router sends it away. */
class RestartServer {
  private readonly side: RestartSide;
  private readonly model: number;
  private readonly loop: BatchLoop;
  private cache: PrefixCache | undefined;

  constructor(side: RestartSide, model: number, options: RestartOptions) {
    this.side = side;
    this.model = model;
    const { engine, router } = side;
    this.loop = new BatchLoop({
      engine,
      needs: router.needs,
      maxNumSeqs: options.maxNumSeqs,
      maxNumBatchedTokens: options.maxNumBatchedTokens,
      onRows: (rows) => {
        const settled = settle(
          router,
          rows.map(({ job, result }) => ({ one: job.one, result })),
        );
        const updates: RestartUpdate[] = [];
        rows.forEach(({ job }, i) => {
          if (settled[i]?.isCommitted) updates.push(this.updateOf(job));
          if (job.one.isOver || settled[i]?.hasMoved) this.leave(job);
          else this.loop.add(job);
        });
        if (updates.length > 0) side.bus.publish(CLIENT, encodeUpdates(updates));
      },
      onFailure: (jobs, error) =>
        side.bus.publish(
          CLIENT,
          encodeUpdates(
            jobs.map(({ one }) => ({
              id: one.request.id,
              token: null,
              model,
              isLast: true,
              failure: String(error),
            })),
          ),
        ),
    });
  }

  async start(): Promise<void> {
    const info = await this.side.engine.start();
    // The same memory as the runtime's replicas account for.
    this.cache = new PrefixCache(info.numKvBlocks * info.blockSizeTokens, (seq) =>
      this.side.engine.release([seq]),
    );
    this.side.bus.subscribe(subjectOf(this.model), ({ payload }) => this.take(payload));
    await this.side.bus.flush();
  }

  async close(): Promise<void> {
    await this.loop.close();
    await this.side.engine.close();
  }

  private take(payload: Uint8Array): void {
    const { sequence, ...request } = decodeRequest(payload);
    const one = new RoutedRequest(request);
    one.at = this.model;
    one.tokens.push(...sequence.slice(one.tokens.length));
    const acquired = this.cache?.acquire(one.tokens);
    if (acquired) this.loop.add({ one, seq: acquired.seq, kvLen: acquired.matchedTokens });
  }

  private updateOf({ one }: BatchJob): RestartUpdate {
    const model = one.models.at(-1) ?? HOME;
    return { id: one.request.id, token: one.tokens.at(-1) ?? null, model, isLast: one.isOver };
  }

  private leave({ one, seq, kvLen }: BatchJob): void {
    this.cache?.keep(seq, one.tokens, kvLen);
    if (one.isOver) return;
    this.side.bus.publish(subjectOf(one.at), encodeRequest({ ...one.request, sequence: one.tokens }));
  }
}

/**
 * Two standard servers. Each switch is a NEW request at the other model: the whole text travels as msgpack, its blocks
 * of {@link PrefixCache} are hashed and matched, and what no full block covers is computed again.
 *
 * Keeps: continuous batching at each model, models that run at the same time, KV of full blocks through the prefix
 * cache. Loses at every switch: the KV of the last, partly filled block (7.5 tokens on average), one hash per block of
 * the whole text, bytes that grow with the text, and the KV of whole requests once the cache is full. Kinder than real
 * servers: the switch goes straight from server to server, without a client in between, without HTTP and JSON, and
 * nothing is tokenized again.
 */
export class RestartDriver implements Driver {
  readonly name = 'restart';
  private readonly options: RestartOptions;
  private readonly servers: readonly RestartServer[];
  private isClosed = false;

  constructor(options: RestartOptions) {
    this.options = options;
    this.servers = options.sides.map((side, index) => new RestartServer(side, index + 1, options));
  }

  async start(sink: RequestSink): Promise<void> {
    const { clientBus } = this.options;
    clientBus.subscribe(CLIENT, ({ payload }) => {
      if (this.isClosed) return;
      for (const { id, token, model, isLast, failure } of decodeUpdates(payload)) {
        if (token !== null) sink.onTokens(id, [token], [model]);
        if (isLast) sink.onEnd(id, failure);
      }
    });
    for (const server of this.servers) await server.start();
    await clientBus.flush();
  }

  submit(request: BenchRequest): void {
    this.options.clientBus.publish(subjectOf(HOME), encodeRequest({ ...request, sequence: request.tokens }));
  }

  async close(): Promise<void> {
    this.isClosed = true;
    for (const server of this.servers) await server.close();
    for (const { bus } of this.options.sides) await bus.close();
    await this.options.clientBus.close();
  }
}
