import type { ModelId } from '../core/request.ts';

/** subserver → those it shares requests with. */
export interface Beacon {
  kind: 'beacon';
  model: ModelId;
  replica: string;
  /** Rows of the step in flight; 0 = idle. */
  rowsRunning: number;
  /** Expected time until the step in flight ends, in milliseconds; 0 when idle. */
  stepLeftMs: number;
  waiting: number;
  /** Requests alive whose home is this replica. */
  aliveAtHome: number;
  /** A step has just ended and rows wait: whether the next one starts is said by the beacon that follows. */
  isDeciding?: boolean;
  /** What the sender has measured; not in every beacon. */
  estimates?: LoadEstimates;
}

/** What a subserver has measured of its model, for those who plan. */
export interface LoadEstimates {
  /** Share of its rows by the model they go to, in the order of ids; its own = they stay. Sums to 1. */
  routing: readonly number[];
  /** Mean tokens that such a row commits. */
  commits: readonly number[];
  /** Step time by rows, ascending, without contention: `[rows, milliseconds]`. */
  curve: readonly (readonly [number, number])[];
  /** Relative standard deviation of the step times. */
  jitter: number;
  /** Speed while another model runs as well, in (0, 1]. */
  overlapFactor: number;
  /** Rows behind `routing` and `commits`. */
  numOutcomes: number;
  /** Largest number of rows of a step. */
  maxNumSeqs: number;
}

/** A start policy in a {@link PlanMessage}; the receiver checks what the wire does not. */
export interface PlannedPolicy {
  kind: string;
  threshold?: number | readonly number[];
  kappa?: number;
  maxWaitMs?: number;
}

/** What to do while so many requests are alive. */
export interface PlanStep {
  alive: number;
  /** Name of the choice, for logs and metrics. */
  name: string;
  /** Predicted committed tokens per second over all requests. */
  tokensPerSecond: number;
  /** One per model, in the order of ids. */
  policies: readonly PlannedPolicy[];
}

/** leader → all subservers: when to start steps. */
export interface PlanMessage {
  kind: 'plan';
  /** The leader. */
  model: ModelId;
  replica: string;
  /** Rises with each plan of this leader. */
  number: number;
  /** The routing that the plan was made for, by model: who measures another one now goes by itself. */
  routing: readonly (readonly number[])[];
  /** Ascending in `alive`, never empty. */
  steps: readonly PlanStep[];
}

export type SubserverState = 'starting' | 'serving' | 'draining' | 'stopped' | 'failed';

/** subserver → all, and the answer to a Probe. */
export interface Heartbeat {
  kind: 'heartbeat';
  model: ModelId;
  replica: string;
  /** Differs after each start of the process. */
  instance: string;
  configHash: string;
  state: SubserverState;
  running: number;
  waiting: number;
  pending: number;
  kvUsedBlocks: number;
  kvTotalBlocks: number;
  maxModelLenTokens: number;
  /** Time since the step in flight began, 0 when idle: a hung engine shows here. */
  stepAgeMs: number;
  /** Monotonic counters by name, for /metrics. */
  counters: Readonly<Record<string, number>>;
  /** When this replica starts its steps, and what it has measured. */
  scheduling?: SchedulingReport;
}

/** How a replica schedules itself at the moment: for people and metrics. */
export interface SchedulingReport {
  /** The policy that decides, such as `threshold(5)`. */
  policy: string;
  /** Why this one: `configured`, `planned`, `trial`, `no plan` … */
  reason: string;
  /** Requests alive as this replica sees it. */
  alive: number;
  /** Rows that the policy waits for at this number of requests alive; absent where it does not go by rows. */
  threshold?: number;
  /** Predicted by the plan in use, in committed tokens per second; absent without one. */
  predictedTokensPerSecond?: number;
  /** Measured lately by the leader; absent elsewhere. */
  measuredTokensPerSecond?: number;
  /** Absent until something was measured. */
  estimates?: LoadEstimates;
}
