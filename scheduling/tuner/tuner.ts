import type { ModelId } from '../../core/request.ts';
import type { PlanProblem, PlanSolver, SystemSpec } from '../planner/plan.ts';
import type { PolicySpec } from '../create-policy.ts';
import { Dwell } from './dwell.ts';
import { hasLoadMoved, hasMoved, MATERIAL, type Tolerance } from './moved.ts';
import { Lasting } from './lasting.ts';
import type { Work } from './luck.ts';
import { PlanCache, SolvedPlan } from './plan-cache.ts';
import { SolveBudget } from './solve-budget.ts';
import { SteadyCount } from './steady-count.ts';
import { systemOf, type MeasuredSystem, type ModelReports } from './system-of.ts';
import type { Trials } from './trials.ts';

export interface TunerOptions {
  home: ModelId;
  solver: PlanSolver;
  /** As in a PlanProblem. */
  admissionP99Ms?: number | undefined;
  maxWaitMs?: number | undefined;
  own?: PlanProblem['own'];
  /** Told of solves that failed. */
  onError: (error: Error) => void;
}

/** How things stand now. */
export interface TunerInput {
  nowMs: number;
  /** Requests alive in the whole system, as announced. */
  alive: number;
  /** Estimates by model, in the order of ids; undefined where no look at them is due. */
  models: readonly ModelReports[] | undefined;
  /** Tokens committed so far in the whole system, since any beginning. */
  tokens: number;
  /** What one home has done, to tell luck from skill; see luck.ts. */
  work?: Work;
  /** Whether the choices are followed: what runs otherwise says nothing about them. Default true. */
  isFollowed?: boolean;
}

/** What to do with so many requests alive. */
export interface TunedStep {
  alive: number;
  name: string;
  tokensPerSecond: number;
  policies: readonly PolicySpec[];
}

/** Tables reach this far beyond the requests alive, so that a few more need no new one. */
const HEADROOM = 1.25;
/** And at least so far: whoever takes over the lead begins with the few requests that are heard at that moment. */
const LEAST_TABLE = 8;
/** A load so far off counts as another one soon, however often plans have changed. */
const FAR: Tolerance = { ...MATERIAL, routing: 0.5, deviations: 6 };
/** Estimates are looked at so often while the load is the plan's: a look costs as much as a step of the smallest models. */
const LOOK_MS = 60;
/** Requests alive that a table covers at most; beyond, its last entry serves. */
const MAX_ALIVE = 512;

/**
 * Chooses how the system starts its steps: keeps a plan for what is measured, asks the solver for a new one when that moves, at
 * no more than 1/20 of a core, and corrects the choice by trials. Pure: time and numbers come in, choices go out.
 */
export class Tuner {
  private readonly options: TunerOptions;
  private readonly cache = new PlanCache();
  private active: SolvedPlan | undefined;
  /** Solved, and not yet compared with how things stand by now. */
  private fresh: SolvedPlan | undefined;
  private isSolving = false;
  private readonly budget = new SolveBudget();
  private readonly dwell = new Dwell();
  private nowMs = 0;
  private lookedMs = -Infinity;
  private readonly lasting = new Lasting();
  private readonly alive = new SteadyCount();

  constructor(options: TunerOptions) {
    this.options = options;
  }

  /** The system that the choices are made for; undefined before the first plan. */
  get system(): SystemSpec | undefined {
    return this.active?.system;
  }

  /** What is measured and tried at the present number of requests; undefined before the first plan. */
  get trials(): Trials | undefined {
    return this.active?.trialsFor(this.alive.value);
  }

  /** The choices now, ascending in `alive`; empty before the first plan. */
  steps(): TunedStep[] {
    const { active } = this;
    return (active?.plan.entries ?? []).flatMap((entry) => {
      const chosen = active?.trialsOf(entry).running ?? entry.candidates[0];
      return chosen ? [{ alive: entry.alive, ...chosen }] : [];
    });
  }

  /** Whether the next tick should bring the estimates. */
  isLookDue(nowMs: number, alive: number): boolean {
    const { active, fresh, lasting } = this;
    if (!active || fresh || lasting.isRunning || this.tableSize(alive) > active.aliveMax) return true;
    return nowMs - this.lookedMs >= LOOK_MS;
  }

  /** To be called often while requests run; returns whether the choices have changed. */
  tick(input: TunerInput): boolean {
    this.nowMs = input.nowMs;
    const before = this.active;
    const trialsBefore = this.trials;
    const ran = trialsBefore?.running;
    this.alive.observe(input.alive, input.nowMs);
    this.plan(input);
    const { trials } = this;
    const { isFollowed = true } = input;
    if (trials === trialsBefore && this.alive.value > 1 && isFollowed)
      trials?.tick(input.nowMs, input.tokens, input.work);
    else trialsBefore?.interrupt();
    return this.active !== before || trialsBefore?.running !== ran;
  }

  private plan({ nowMs, alive, models }: TunerInput): void {
    if (!models) return;
    this.lookedMs = nowMs;
    const aliveMax = this.tableSize(alive);
    const measured = systemOf(models, this.options.home, aliveMax);
    if (!measured || alive < 1) return;
    if (this.active && this.active.aliveMax >= aliveMax && !hasMoved(this.active.system, measured)) {
      this.lasting.ended();
      return;
    }
    const isUrgent = this.isUrgent(measured, aliveMax);
    if (isUrgent === undefined) return;
    const fresh = this.takeFresh(measured);
    if (!fresh && !this.dwell.isOver(nowMs, isUrgent)) return;
    const found = fresh ?? this.cache.find(measured, aliveMax);
    if (found) this.adopt(found, fresh !== undefined, isUrgent);
    else if (!this.isSolving && this.budget.isAllowed(nowMs, isUrgent)) this.solve(measured.system, aliveMax);
  }

  private adopt(found: SolvedPlan, isFresh: boolean, isUrgent: boolean): void {
    const before = this.trials?.chosen.name;
    if (this.active) found.succeed(this.active, !isUrgent);
    this.active = found;
    this.lasting.changed(this.nowMs, isUrgent);
    this.dwell.begin(this.nowMs, isUrgent);
    if (isFresh) this.budget.judged(this.trials?.chosen.name !== before);
  }

  /** Whether another load than before is there; undefined while that is too early to say. */
  private isUrgent(measured: MeasuredSystem, aliveMax: number): boolean | undefined {
    const { active, nowMs } = this;
    if (!active || active.aliveMax < aliveMax) return true;
    if (!hasLoadMoved(active.system, measured)) {
      this.lasting.ended();
      return false;
    }
    const isFar = hasLoadMoved(active.system, measured, FAR);
    return this.lasting.isLong(nowMs, isFar) ? true : undefined;
  }

  /**
   * The plan that has just been solved, unless it was for a passage that is over: the plan in use fits the load, and it does not.
   * However the estimates have gone on otherwise, it is newer than the one in use.
   */
  private takeFresh(measured: MeasuredSystem): SolvedPlan | undefined {
    const { fresh, active } = this;
    this.fresh = undefined;
    if (!fresh) return undefined;
    this.cache.add(fresh);
    const isOver = hasLoadMoved(fresh.system, measured) && active && !hasLoadMoved(active.system, measured);
    return isOver ? undefined : fresh;
  }

  /** Tables grow with the requests alive and do not shrink: the same plan serves fewer of them. */
  private tableSize(alive: number): number {
    const known = this.active?.aliveMax ?? 0;
    const wanted = Math.min(MAX_ALIVE, alive);
    return wanted <= known ? known : Math.max(LEAST_TABLE, Math.min(MAX_ALIVE, Math.ceil(wanted * HEADROOM)));
  }

  private solve(system: SystemSpec, aliveMax: number): void {
    const { solver, admissionP99Ms, maxWaitMs, own, onError } = this.options;
    this.isSolving = true;
    const limits = {
      ...(admissionP99Ms === undefined ? {} : { admissionP99Ms }),
      ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
    };
    const startedMs = this.nowMs;
    solver.solve({ system, aliveMax, ...limits, ...(own ? { own } : {}) }, (outcome) => {
      this.isSolving = false;
      const tookMs = outcome.ok ? outcome.seconds * 1000 : this.nowMs - startedMs;
      this.budget.ended(this.nowMs, tookMs, outcome.ok);
      if (outcome.ok) this.fresh = new SolvedPlan(system, outcome.plan, aliveMax, limits);
      else onError(outcome.error);
    });
  }
}
