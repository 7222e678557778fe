import { entryFor, type Plan, type PlanEntry, type PlanProblem, type SystemSpec } from '../planner/plan.ts';
import { ladderOf } from './ladder.ts';
import { hasMoved, type Tolerance } from './moved.ts';
import type { MeasuredSystem } from './system-of.ts';
import { Trials } from './trials.ts';

/** Numbers of requests alive that differ by less than this share are as good as the same. */
const NEAR = 0.25;

/** Windows of the plan before count as so many of an older one for the same load. */
const NEWER_WEIGHT = 3;

/** What a plan was asked to keep. */
type Limits = Pick<PlanProblem, 'admissionP99Ms' | 'maxWaitMs'>;

/** A solved plan with what was measured under it. */
export class SolvedPlan {
  readonly system: SystemSpec;
  readonly plan: Plan;
  readonly aliveMax: number;
  private readonly limits: Limits;
  private readonly trials = new Map<PlanEntry, Trials>();
  private before: SolvedPlan | undefined;

  /** @param limits as in the problem that the plan solves */
  constructor(system: SystemSpec, plan: Plan, aliveMax: number, limits: Limits = {}) {
    this.system = system;
    this.plan = plan;
    this.aliveMax = aliveMax;
    this.limits = limits;
  }

  trialsFor(alive: number): Trials | undefined {
    const entry = entryFor(this.plan, alive);
    return entry && this.trialsOf(entry);
  }

  trialsOf(entry: PlanEntry): Trials {
    const known = this.trials.get(entry) ?? this.newTrials(entry);
    this.trials.set(entry, known);
    return known;
  }

  /**
   * What was measured under `before` tells how far predictions are off; more than what was measured here, if that is less or, under
   * the same load, older. Only the newest plan before is remembered.
   */
  succeed(before: SolvedPlan, isSameLoad: boolean): void {
    if (before === this) return;
    this.before = before;
    before.before = undefined;
    const weight = isSameLoad ? NEWER_WEIGHT : 1;
    for (const [entry, { numWindows }] of this.trials)
      if (numWindows < weight * (before.trialsNear(entry.alive)?.numWindows ?? 0)) this.trials.delete(entry);
  }

  private newTrials({ alive, candidates }: PlanEntry): Trials {
    const { admissionP99Ms, maxWaitMs } = this.limits;
    // With a bound on the delay nothing runs of which nobody knows how long its rows wait.
    const ladder =
      admissionP99Ms === undefined
        ? ladderOf(this.system, alive, candidates[0]?.tokensPerSecond ?? 0, maxWaitMs)
        : [];
    return new Trials(candidates, admissionP99Ms, this.before?.trialsNear(alive), ladder);
  }

  /** Trials of about as many requests, if there were any. */
  private trialsNear(alive: number): Trials | undefined {
    const entry = entryFor(this.plan, alive);
    return entry && Math.abs(entry.alive - alive) <= NEAR * alive ? this.trials.get(entry) : undefined;
  }
}

/** Plans kept: a load that shifts back and forth finds the one it had. */
const MAX_PLANS = 16;

/** A cached plan must fit better than the one in use has to: else the two would alternate. */
const CLOSE: Tolerance = { routing: 0.12, deviations: 1, stepMs: 0.04, overlap: 0.025, jitter: 0.25 };

/** The newest plans, found by the system they were made for. */
export class PlanCache {
  private readonly plans: SolvedPlan[] = [];

  add(solved: SolvedPlan): void {
    this.plans.unshift(solved);
    this.plans.length = Math.min(this.plans.length, MAX_PLANS);
  }

  /** A plan for about this system and at least so many requests. It counts as the newest then. */
  find(measured: MeasuredSystem, alive: number): SolvedPlan | undefined {
    const index = this.plans.findIndex(
      (one) => one.aliveMax >= alive && !hasMoved(one.system, measured, CLOSE),
    );
    const [found] = index < 0 ? [] : this.plans.splice(index, 1);
    if (found) this.plans.unshift(found);
    return found;
  }
}
