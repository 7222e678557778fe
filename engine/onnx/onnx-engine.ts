import type { Clock } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Engine, EngineInfo, StepBatch, StepOutcome } from '../engine.ts';
import type { EngineWorker } from './engine-worker.ts';
import type { FromWorker, OfferedSignals } from './protocol.ts';
import { checkBatch } from './step-validation.ts';

export interface OnnxEngineDeps {
  logger: Logger;
  clock: Clock;
}

/** The engine as its owner's thread sees it: checks batches and passes them to the worker. */
export class OnnxEngine implements Engine {
  private readonly startWorker: () => EngineWorker;
  private readonly deps: OnnxEngineDeps;
  private worker: EngineWorker | undefined;
  private info: EngineInfo | undefined;
  private offered: OfferedSignals = { topK: 0, heads: [] };
  private failure: TokenrailError | undefined;
  /** Tokens fed per sequence. */
  private readonly lengths = new Map<number, number>();
  private inFlight: ((outcome: StepOutcome) => void) | undefined;
  private closing: Promise<void> | undefined;
  private starting: Promise<EngineInfo> | undefined;
  private settleStart: ((result: EngineInfo | TokenrailError) => void) | undefined;
  private settleStep: (() => void) | undefined;
  private readonly ended: Promise<void>;
  private settleEnd: () => void = () => {};

  constructor(startWorker: () => EngineWorker, deps: OnnxEngineDeps) {
    this.startWorker = startWorker;
    this.deps = deps;
    this.ended = new Promise((resolve) => (this.settleEnd = resolve));
  }

  start(): Promise<EngineInfo> {
    if (this.starting !== undefined || this.closing !== undefined) {
      return Promise.reject(new TokenrailError('illegal_state', 'the engine was started or closed before'));
    }
    this.starting = new Promise((resolve, reject) => {
      this.settleStart = (result) => (result instanceof TokenrailError ? reject(result) : resolve(result));
    });
    this.worker = this.startWorker();
    this.worker.onMessage((message) => this.onMessage(message));
    this.worker.onEnd((error) => this.onWorkerEnd(error));
    return this.starting;
  }

  step(batch: StepBatch, onDone: (outcome: StepOutcome) => void): void {
    if (this.closing !== undefined) throw new TokenrailError('illegal_state', 'the engine is closed');
    if (this.inFlight !== undefined) throw new TokenrailError('illegal_state', 'a step is in flight');
    const { failure, info } = this;
    if (failure !== undefined) {
      this.deps.clock.afterInstant(() => onDone({ ok: false, error: failure }));
      return;
    }
    if (info === undefined) throw new TokenrailError('illegal_state', 'the engine has not started');
    checkBatch(batch, info, this.lengths, this.offered);
    for (const row of batch.rows) this.lengths.set(row.seq, row.past + row.tokens.length);
    this.inFlight = onDone;
    this.worker?.post({ kind: 'step', rows: batch.rows, needs: batch.needs });
  }

  release(seqs: readonly number[]): void {
    for (const seq of seqs) this.lengths.delete(seq);
    if (this.info !== undefined && this.failure === undefined && this.closing === undefined) {
      this.worker?.post({ kind: 'release', seqs });
    }
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    if (this.starting === undefined) return;
    const hasStarted = await this.starting.then(
      () => true,
      () => false,
    );
    if (this.inFlight !== undefined) await new Promise<void>((resolve) => (this.settleStep = resolve));
    // A failed worker ends by itself.
    if (hasStarted && this.failure === undefined) this.worker?.post({ kind: 'close' });
    await this.ended;
  }

  private onMessage(message: FromWorker): void {
    switch (message.kind) {
      case 'started':
        this.onStarted(message.info, message.offered);
        return;
      case 'done':
        this.finishStep({ ok: true, rows: message.rows, timing: message.timing });
        return;
      case 'failed':
        this.fail(new TokenrailError(message.code, message.message));
    }
  }

  private onStarted(info: EngineInfo, offered: OfferedSignals): void {
    this.info = info;
    this.offered = offered;
    for (const note of info.notes) {
      if (note.startsWith('warning')) this.deps.logger.warn({ note }, 'engine');
    }
    this.settleStart?.(info);
  }

  private onWorkerEnd(error: Error | undefined): void {
    if (this.failure === undefined && (this.closing === undefined || this.inFlight !== undefined)) {
      const reason = error?.message ?? 'it ended without being asked to';
      this.fail(
        new TokenrailError('engine_failed', `the engine's worker failed: ${reason}`, { cause: error }),
      );
    }
    this.settleEnd();
  }

  /** Ends the start or the step in flight with the error. Every later step fails. */
  private fail(error: TokenrailError): void {
    const hasStarted = this.info !== undefined;
    this.failure =
      hasStarted && error.code !== 'engine_failed'
        ? new TokenrailError('engine_failed', error.message, { cause: error })
        : error;
    this.deps.logger.error({ code: this.failure.code }, `engine: ${this.failure.message}`);
    if (!hasStarted) this.settleStart?.(this.failure);
    this.finishStep({ ok: false, error: this.failure });
  }

  private finishStep(outcome: StepOutcome): void {
    const onDone = this.inFlight;
    this.inFlight = undefined;
    try {
      onDone?.(outcome);
    } finally {
      this.settleStep?.();
    }
  }
}
