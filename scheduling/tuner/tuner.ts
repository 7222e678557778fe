import type { ModelId } from '../../core/request.ts';
import type { PlanSolver, SystemSpec } from '../planner/plan.ts';
import type { PolicySpec } from '../create-policy.ts';
import { hasLoadMoved, hasMoved } from './moved.ts';
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
  /** Told of solves that failed. */
  onError: (error: Error) => void;
}

/** How things stand now. */
export interface TunerInput {
  nowMs: number;
  /** Requests alive in the whole system, as announced. */
  alive: number;
  /** Estimates by model, in the order of ids. */
  models: readonly ModelReports[];
  /** Tokens committed so far in the whole system, since any beginning. */
  tokens: number;
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
  private nowMs = 0;
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
      trials?.tick(input.nowMs, input.tokens);
    else trialsBefore?.interrupt();
    return this.active !== before || trialsBefore?.running !== ran;
  }

  private plan({ nowMs, alive, models }: TunerInput): void {
    const aliveMax = this.tableSize(alive);
    const measured = systemOf(models, this.options.home, aliveMax);
    if (!measured || alive < 1) return;
    if (this.active && this.active.aliveMax >= aliveMax && !hasMoved(this.active.system, measured)) return;
    const fresh = this.takeFresh();
    const found = fresh ?? this.cache.find(measured, aliveMax);
    if (found) {
      const before = this.trials?.chosen.name;
      if (this.active) found.succeed(this.active);
      this.active = found;
      if (fresh) this.budget.judged(this.trials?.chosen.name !== before);
      return;
    }
    if (this.isSolving || !this.budget.isAllowed(nowMs, this.isUrgent(measured, aliveMax))) return;
    this.solve(measured.system, aliveMax);
  }

  private isUrgent(measured: MeasuredSystem, aliveMax: number): boolean {
    const { active } = this;
    return !active || active.aliveMax < aliveMax || hasLoadMoved(active.system, measured);
  }

  /** The plan that has just been solved: however the estimates have gone on meanwhile, it is newer than the one in use. */
  private takeFresh(): SolvedPlan | undefined {
    const { fresh } = this;
    this.fresh = undefined;
    if (fresh) this.cache.add(fresh);
    return fresh;
  }

  /** Tables grow with the requests alive and do not shrink: the same plan serves fewer of them. */
  private tableSize(alive: number): number {
    const known = this.active?.aliveMax ?? 0;
    const wanted = Math.min(MAX_ALIVE, alive);
    return wanted <= known ? known : Math.max(LEAST_TABLE, Math.min(MAX_ALIVE, Math.ceil(wanted * HEADROOM)));
  }

  private solve(system: SystemSpec, aliveMax: number): void {
    const { solver, admissionP99Ms, maxWaitMs, onError } = this.options;
    this.isSolving = true;
    const limits = {
      ...(admissionP99Ms === undefined ? {} : { admissionP99Ms }),
      ...(maxWaitMs === undefined ? {} : { maxWaitMs }),
    };
    const startedMs = this.nowMs;
    solver.solve({ system, aliveMax, ...limits }, (outcome) => {
      this.isSolving = false;
      const tookMs = outcome.ok ? outcome.seconds * 1000 : this.nowMs - startedMs;
      this.budget.ended(this.nowMs, tookMs, outcome.ok);
      if (outcome.ok) this.fresh = new SolvedPlan(system, outcome.plan, aliveMax, limits);
      else onError(outcome.error);
    });
  }
}
