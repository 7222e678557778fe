import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import type { EndReason } from '../../core/request.ts';
import type { SampledRow, SignalNeeds } from '../../engine/engine.ts';
import type { Router } from '../../routers/router.ts';
import type { Bus } from '../../transport/bus.ts';
import type { Message, RecordedScore, RecordEnd, StepRecord } from '../../transport/messages.ts';
import { MAX_MODEL_ID } from '../../transport/wire/limits.ts';
import type { LiveRequest } from './live-request.ts';
import { Outbox } from './outbox.ts';
import { unionNeeds } from './step-needs.ts';

/** What a deployment that records keeps of each step. */
export interface RecordOptions {
  /** Largest raw logits per row. */
  topK: number;
  /** Whether hidden vectors are kept. */
  hidden: boolean;
  /** Digest of each head's file, by the file as routers name it. */
  headDigests: ReadonlyMap<string, string>;
}

/** What recording asks of the engine, of every row. */
export function recordNeeds({ topK, hidden }: Pick<RecordOptions, 'topK' | 'hidden'>): SignalNeeds {
  return { topK, ...(hidden ? { hidden } : {}) };
}

export interface StepTapDeps {
  bus: Bus;
  clock: Clock;
  logger: Logger;
  routers: ReadonlyMap<string, Router>;
  /** Who says the records, and where. */
  source: Pick<StepRecord, 'model' | 'replica' | 'configHash'> & { subject: string };
}

/** Behind every model of the instant. */
const LAST_RANK = MAX_MODEL_ID + 1;

/** What became of a row. */
export interface RowFate {
  /** What the router named; 0 = stay. */
  destination: number;
  token: number;
  isKept: boolean;
}

/**
 * Publishes what steps saw and decided, for whoever listens; if nobody does, the broker drops it. Records leave after
 * everything else of their instant, so that no handoff waits for them, and what cannot be sent is lost: the numbers
 * tell the listener.
 */
export class StepTap {
  /** Per router what its rows ask of the engine while recording. */
  readonly asking: ReadonlyMap<string, Pick<Router, 'needs'>>;
  private readonly options: RecordOptions;
  private readonly deps: StepTapDeps;
  private readonly outbox: Outbox;
  private number = 0;
  private isFlushPending = false;
  private hasWarned = false;

  constructor(options: RecordOptions, deps: StepTapDeps) {
    this.options = options;
    this.deps = deps;
    const needs = recordNeeds(options);
    this.asking = new Map(
      [...deps.routers].map(([id, router]) => [id, { needs: unionNeeds([router.needs, needs]) }]),
    );
    this.outbox = new Outbox(deps.bus, deps.logger, (message, error) => this.onTooLarge(message, error));
  }

  /** To be called before the row's token is appended. */
  row(request: LiveRequest, result: SampledRow, fate: RowFate): void {
    const { topValues, topIds, hidden, scores, logSumExp } = result;
    const record: StepRecord = {
      kind: 'step-record',
      ...this.sourceOf(request),
      router: request.init.router,
      position: request.tokens.length,
      numGenerated: request.numGenerated,
      numSinceArrival: request.numSinceArrival,
      sampling: request.init.sampling,
      suffix: request.tokens.slice(request.recordedLoc),
      sampled: result.sampled,
      logprob: result.logprob,
      entropyNats: result.entropyNats,
      normalizedEntropy: result.normalizedEntropy,
      ...fate,
      ...(logSumExp === undefined ? {} : { logSumExp }),
      ...(topValues && topIds ? { topValues, topIds } : {}),
      ...(hidden ? { hidden } : {}),
      ...(scores ? { scores: this.digested(scores) } : {}),
      ...(request.algo ? { algo: request.algo } : {}),
    };
    request.recordedLoc = request.tokens.length;
    this.post(record);
  }

  end(request: LiveRequest, reason: EndReason): void {
    const record: RecordEnd = {
      kind: 'record-end',
      ...this.sourceOf(request),
      reason,
      completionTokens: request.numGenerated,
    };
    this.post(record);
  }

  private sourceOf({
    rid,
  }: LiveRequest): Pick<StepRecord, 'rid' | 'model' | 'replica' | 'configHash' | 'number'> {
    const { model, replica, configHash } = this.deps.source;
    this.number += 1;
    return { rid, model, replica, configHash, number: this.number };
  }

  private digested(scores: Readonly<Record<string, number>>): RecordedScore[] {
    return Object.entries(scores).flatMap(([file, score]) => {
      const digest = this.options.headDigests.get(file);
      return digest === undefined ? [] : [{ digest, score }];
    });
  }

  private post(record: StepRecord | RecordEnd): void {
    this.outbox.post(this.deps.source.subject, record);
    if (this.isFlushPending) return;
    this.isFlushPending = true;
    const { clock } = this.deps;
    const flush = (): void => {
      this.isFlushPending = false;
      this.outbox.flush();
    };
    // Twice: a clock without ranks would send before the next step is chosen, which was asked for after this.
    clock.afterInstant(() => clock.afterInstant(flush, LAST_RANK), LAST_RANK);
  }

  private onTooLarge(message: Message, error: Error): void {
    if (this.hasWarned) return;
    this.hasWarned = true;
    this.deps.logger.warn(
      { kind: message.kind, err: error },
      'a record is too large for the bus and is dropped',
    );
  }
}
