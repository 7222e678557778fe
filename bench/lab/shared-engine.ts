import { toTokenrailError } from '../../core/errors.ts';
import type { Engine, EngineInfo, StepBatch, StepOutcome } from '../../engine/engine.ts';
import type { BusMeter } from './bus-meter.ts';
import type { Gate } from './gate.ts';
import type { StepRecord } from './step-record.ts';

/** Numbers of sequences are `seq * MAX_SHARES + share`: shares never meet in the engine's cache. */
const MAX_SHARES = 4096;

/** What a share tells of itself. */
export interface ShareOptions {
  gate: Gate;
  onStep?: ((record: StepRecord) => void) | undefined;
  /** The bus of the same owner, for the shares of a step's time. */
  meter?: BusMeter | undefined;
}

/** One loaded model that several systems use in turns: weights and graphs are there once. */
export class SharedEngine {
  readonly engine: Engine;
  readonly info: EngineInfo;
  private numShares = 0;

  private constructor(engine: Engine, info: EngineInfo) {
    this.engine = engine;
    this.info = info;
  }

  static async start(engine: Engine): Promise<SharedEngine> {
    return new SharedEngine(engine, await engine.start());
  }

  /** An engine of one's own, as far as its owner can tell. */
  share(options: ShareOptions): Engine {
    if (this.numShares === MAX_SHARES) throw new Error(`an engine is shared by ${MAX_SHARES} at most`);
    this.numShares += 1;
    return new EngineShare(this, this.numShares - 1, options);
  }

  close(): Promise<void> {
    return this.engine.close();
  }
}

/** Closing a share frees its sequences and leaves the engine running. */
class EngineShare implements Engine {
  private readonly shared: SharedEngine;
  private readonly index: number;
  private readonly options: ShareOptions;
  private readonly seqs = new Set<number>();
  private lastEnd = { ms: NaN, epoch: -1, handlerMs: 0 };

  constructor(shared: SharedEngine, index: number, options: ShareOptions) {
    this.shared = shared;
    this.index = index;
    this.options = options;
  }

  start(): Promise<EngineInfo> {
    return Promise.resolve(this.shared.info);
  }

  step(batch: StepBatch, onDone: (outcome: StepOutcome) => void): void {
    this.options.gate.pass(() => {
      try {
        this.run(batch, onDone);
      } catch (thrown) {
        const error = toTokenrailError(thrown, 'engine_failed');
        setImmediate(() => onDone({ ok: false, error }));
      }
    });
  }

  release(seqs: readonly number[]): void {
    for (const seq of seqs) this.seqs.delete(seq);
    this.shared.engine.release(seqs.map((seq) => this.outer(seq)));
  }

  close(): Promise<void> {
    this.release([...this.seqs]);
    return Promise.resolve();
  }

  private outer(seq: number): number {
    return seq * MAX_SHARES + this.index;
  }

  private run(batch: StepBatch, onDone: (outcome: StepOutcome) => void): void {
    const { gate, meter } = this.options;
    const startMs = performance.now();
    const isUnbroken = this.lastEnd.epoch === gate.epoch;
    const gapMs = isUnbroken ? startMs - this.lastEnd.ms : NaN;
    const handlerMs = (meter?.handlerMs ?? 0) - this.lastEnd.handlerMs;
    const rows = batch.rows.map((row) => ({ ...row, seq: this.outer(row.seq) }));
    this.shared.engine.step({ ...batch, rows }, (outcome) => {
      const endMs = performance.now();
      gate.left();
      const publishedBeforeMs = meter?.publishMs ?? 0;
      if (outcome.ok) outcome.rows.forEach((row, i) => (row.seq = batch.rows[i]?.seq ?? -1));
      onDone(outcome);
      const doneMs = performance.now();
      this.lastEnd = { ms: doneMs, epoch: gate.epoch, handlerMs: meter?.handlerMs ?? 0 };
      if (!outcome.ok) return;
      this.options.onStep?.({
        rows: rows.length,
        tokens: rows.reduce((sum, { tokens }) => sum + tokens.length, 0),
        startMs,
        endMs,
        runMs: outcome.timing.runMs,
        engineMs: outcome.timing.totalMs,
        callbackMs: doneMs - endMs,
        publishMs: (meter?.publishMs ?? 0) - publishedBeforeMs,
        gapMs,
        handlerMs: isUnbroken ? handlerMs : 0,
      });
    });
    for (const { seq } of batch.rows) this.seqs.add(seq);
    gate.entered();
  }
}
