import type { ModelId } from '../../core/request.ts';
import type { PolicySpec } from '../create-policy.ts';

/** A deployment as a planner sees it: what estimates say of the models and of the way requests go. */
export interface SystemSpec {
  /** routing[i][j]: probability that a step at model i + 1 sends a request to model j + 1; the diagonal is "stay". */
  routing: readonly (readonly number[])[];
  /** commits[i][j]: tokens that such a step commits. */
  commits: readonly (readonly number[])[];
  /** Step time of each model by rows, in milliseconds: index rows − 1, the last value beyond. */
  stepMs: readonly (readonly number[])[];
  /** Speed of each model while at least two run, in (0, 1]; 1 = devices of their own. */
  overlapFactor: number;
  /** Replicas per model; default one each. */
  replicas?: readonly number[];
  /** Largest number of rows of a step, per model; default no limit. */
  maxNumSeqs?: readonly number[];
  /** Relative standard deviation of the step times, per model; default 0. */
  jitter?: readonly number[];
  /** The model that owns the requests. */
  home: ModelId;
}

export interface PlanProblem {
  system: SystemSpec;
  /** The plan covers 1 … aliveMax requests alive. */
  aliveMax: number;
  /** Prefer candidates whose 99th percentile of admission delay stays within this at every model, in milliseconds. */
  admissionP99Ms?: number;
  /** The ceiling that the policies are given, in milliseconds; default 250. */
  maxWaitMs?: number;
  /**
   * The policies that the models have by configuration, in the order of ids. A model with `auto` does what the plan says, with
   * a ceiling of its own; any other keeps its policy, and the plan is the best beside it. Default: all `auto`.
   */
  own?: readonly PolicySpec[];
}

/** One way to schedule the whole system, with what it is predicted to give. */
export interface Candidate {
  /** For logs and metrics: `eager`, `threshold(1,5)`, `look-ahead(1)` … */
  name: string;
  /** One per model, in the order of their ids. */
  policies: readonly PolicySpec[];
  /** Predicted committed tokens per second over all requests. */
  tokensPerSecond: number;
  /** The prediction comes from a simulation of the model, not from its exact solution. */
  isSampled?: true;
  /** Predicted 99th percentile of the admission delay, the worst over the models, in milliseconds. */
  p99AdmissionMs?: number;
}

export interface PlanEntry {
  /** Requests alive that this entry is computed for. */
  alive: number;
  /** Best first; never empty. */
  candidates: readonly Candidate[];
}

export interface Plan {
  /** Ascending in `alive`. For a number between two entries the nearer one serves. */
  entries: readonly PlanEntry[];
}

export type PlanOutcome = { ok: true; plan: Plan; seconds: number } | { ok: false; error: Error };

/** Computes plans; never on a thread that serves messages, unless time is virtual. */
export interface PlanSolver {
  /** Calls `onDone` once, never synchronously. */
  solve(problem: PlanProblem, onDone: (outcome: PlanOutcome) => void): void;
  /** Ends what is in flight, whose `onDone` is told an error. Idempotent. */
  close(): Promise<void>;
}

/** The entry that serves `alive` requests: the nearest, of two equally near the smaller. */
export function entryFor(plan: Plan, alive: number): PlanEntry | undefined {
  let best: PlanEntry | undefined;
  for (const entry of plan.entries)
    if (!best || Math.abs(entry.alive - alive) < Math.abs(best.alive - alive)) best = entry;
  return best;
}
