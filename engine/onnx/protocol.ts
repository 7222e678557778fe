import type { ErrorCode } from '../../core/errors.ts';
import type { EngineInfo, RowResult, SignalNeeds, StepRow, StepTiming } from '../engine.ts';

/** Messages to the worker. The options travel as `workerData`; loading begins at once. */
export type ToWorker =
  | { kind: 'step'; rows: readonly StepRow[]; needs: SignalNeeds }
  | { kind: 'release'; seqs: readonly number[] }
  | { kind: 'close' };

/** Messages from the worker. */
export type FromWorker =
  /** topK: largest `needs.topK` that a step may have. */
  | { kind: 'started'; info: EngineInfo; topK: number }
  | { kind: 'failed'; code: ErrorCode; message: string }
  | { kind: 'done'; rows: readonly RowResult[]; timing: StepTiming };
