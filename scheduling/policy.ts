import type { ModelId } from '../core/request.ts';

/** What a peer announced last (a Beacon), with its age and what has passed between us since taken into account. */
export interface PeerView {
  model: ModelId;
  replica: string;
  /** Rows of its step in flight; 0 = idle. */
  rowsRunning: number;
  /** Expected time until its step ends, in milliseconds; 0 when idle; negative when the step is overdue. */
  stepLeftMs: number;
  waiting: number;
  aliveAtHome: number;
  /** Share of its running rows that come here when its step ends, in [0, 1]; 0 while unknown. */
  shareToHere: number;
}

/** What a policy sees when an idle model may start a step. */
export interface QueueView {
  /** The model that decides. */
  self: ModelId;
  /** The model that owns the requests. */
  home: ModelId;
  nowMs: number;
  /** Rows ready to run here, ≥ 1. */
  waiting: number;
  /** How long the oldest of them has been ready, in milliseconds. */
  oldestWaitMs: number;
  /** Requests alive that can still come here, those waiting included. */
  alive: number;
  /** Largest number of rows of a step. */
  maxNumSeqs: number;
  /** True when no request of the system can move unless this model starts. */
  isSystemStalled: boolean;
  peers: readonly PeerView[];
  /** Expected time of a step here with `rows` rows, without contention, in milliseconds; 0 while unknown. */
  stepMs: (rows: number) => number;
  /** Relative standard deviation of the step times measured here; 0 while unknown. */
  stepJitter: number;
  /** Speed of each model while at least two run, in (0, 1]; 1 = devices of their own. */
  overlapFactor: number;
}

/** Start now with all waiting rows, or hold; a hold is asked again at each change and after `forMs` at the latest. */
export type Decision = { kind: 'start' } | { kind: 'hold'; forMs: number };

/**
 * When an idle model starts its next step (docs/architecture.md, delayed batching). A pure function of the view:
 * the throughput model evaluates the very same object that serves.
 */
export interface StartPolicy {
  readonly name: string;
  decide(view: QueueView): Decision;
}
