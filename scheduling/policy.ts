/** What a peer announced last (a Beacon), with its age taken into account. */
export interface PeerView {
  model: number;
  replica: string;
  rowsRunning: number;
  /** Expected time until its step ends, in milliseconds; 0 when idle. */
  stepLeftMs: number;
  waiting: number;
  aliveAtHome: number;
}

/** What a policy sees when an idle model may start a step. */
export interface QueueView {
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
}

/** Start now with all waiting rows, or hold; a hold is asked again at each change and after `forMs` at the latest. */
export type Decision = { kind: 'start' } | { kind: 'hold'; forMs: number };

/** When an idle model starts its next step (docs/architecture.md, delayed batching). */
export interface StartPolicy {
  readonly name: string;
  decide(view: QueueView): Decision;
}
