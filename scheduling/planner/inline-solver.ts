import type { Clock } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';
import { makePlan } from './make-plan.ts';
import type { PlanOutcome, PlanProblem, PlanSolver } from './plan.ts';

/** Solves on the caller's thread and answers after the instant: for virtual time, where a solve costs none. */
export class InlineSolver implements PlanSolver {
  private readonly clock: Clock;
  private readonly solveNow: typeof makePlan;
  private isClosed = false;

  constructor(clock: Clock, solveNow: typeof makePlan = makePlan) {
    this.clock = clock;
    this.solveNow = solveNow;
  }

  solve(problem: PlanProblem, onDone: (outcome: PlanOutcome) => void): void {
    this.clock.afterInstant(() => onDone(this.outcome(problem)));
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  private outcome(problem: PlanProblem): PlanOutcome {
    if (this.isClosed)
      return { ok: false, error: new TokenrailError('illegal_state', 'the solver is closed') };
    try {
      return { ok: true, plan: this.solveNow(problem), seconds: 0 };
    } catch (thrown) {
      return { ok: false, error: thrown instanceof Error ? thrown : new Error(String(thrown)) };
    }
  }
}
