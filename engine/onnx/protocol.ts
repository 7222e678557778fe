import type { ErrorCode } from '../../core/errors.ts';
import type { EngineInfo, RowResult, SignalNeeds, StepRow, StepTiming } from '../engine.ts';

/** Messages to the worker. The options travel as `workerData`; loading begins at once. */
export type ToWorker =
  | { kind: 'step'; rows: readonly StepRow[]; needs: SignalNeeds }
  | { kind: 'release'; seqs: readonly number[] }
  | { kind: 'close' };

/** What a step's needs may ask for. */
export interface OfferedSignals {
  /** Largest `topK`. */
  topK: number;
  /** Files of the heads. */
  heads: readonly string[];
}

/** Messages from the worker. */
export type FromWorker =
  | { kind: 'started'; info: EngineInfo; offered: OfferedSignals }
  | { kind: 'failed'; code: ErrorCode; message: string }
  | { kind: 'done'; rows: readonly RowResult[]; timing: StepTiming };
