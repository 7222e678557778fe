import { holdOrStart } from './escapes.ts';
import { lookAheadPolicy } from './look-ahead.ts';
import type { Decision, QueueView, StartPolicy } from './policy.ts';

export interface AutoOptions {
  /** No row waits longer than this, in milliseconds, whatever the plan says. */
  maxWaitMs: number;
  /** Bound on the 99th percentile of the admission delay that planners are asked for, in milliseconds. */
  admissionP99Ms?: number | undefined;
}

/** What a plan tells one model to do while so many requests are alive. */
export interface OwnStep {
  alive: number;
  /** Name of the choice for the whole system. */
  name: string;
  /** Predicted committed tokens per second over all requests. */
  tokensPerSecond: number;
  /** This model's part. */
  policy: StartPolicy;
  /** Rows that it waits for, where it goes by rows. */
  threshold?: number | undefined;
}

/** A plan as one model follows it. */
export interface OwnPlan {
  /** Ascending in `alive`. */
  steps: readonly OwnStep[];
  receivedMs: number;
}

/** What decides now, and why: for logs and metrics. */
export interface AutoState {
  policy: string;
  reason: 'planned' | 'no plan' | 'plan too old' | 'estimates moved';
  /** The step of the plan that is followed; undefined while looking ahead on its own. */
  step: OwnStep | undefined;
}

/** A plan not heard of for so long is nobody's any more. */
const PLAN_STALE_MS = 5000;

/**
 * The policy that schedules itself: follows the newest plan, and looks ahead by itself while there is none, while it
 * is too old, or while what it was made for no longer holds. Look-ahead needs no solver and reads the live estimates, so it is
 * never far off. Feasibility is not its business: every policy has the same escapes.
 */
export class AutoPolicy implements StartPolicy {
  readonly name = 'auto';
  readonly options: AutoOptions;
  private readonly alone: StartPolicy;
  private plan: OwnPlan | undefined;
  private isOutdated = false;

  constructor(options: AutoOptions) {
    this.options = options;
    this.alone = lookAheadPolicy(options);
  }

  /** Follows `plan` from now on. */
  follow(plan: OwnPlan): void {
    this.plan = plan;
    this.isOutdated = false;
  }

  /** Whether the estimates have left what the plan was made for: then it waits for a new one, looking ahead. */
  outdate(isOutdated: boolean): void {
    this.isOutdated = isOutdated;
  }

  decide(view: QueueView): Decision {
    const { step } = this.stateAt(view.nowMs, view.alive);
    const decision = (step?.policy ?? this.alone).decide(view);
    if (decision.kind === 'start') return decision;
    return holdOrStart(view, this.options.maxWaitMs, decision.forMs);
  }

  /** What decides at this time with so many requests alive. */
  stateAt(nowMs: number, alive: number): AutoState {
    const onItsOwn = (reason: AutoState['reason']): AutoState => ({
      policy: this.alone.name,
      reason,
      step: undefined,
    });
    if (!this.plan) return onItsOwn('no plan');
    if (nowMs - this.plan.receivedMs > PLAN_STALE_MS) return onItsOwn('plan too old');
    if (this.isOutdated) return onItsOwn('estimates moved');
    const step = nearest(this.plan.steps, alive);
    return step ? { policy: step.policy.name, reason: 'planned', step } : onItsOwn('no plan');
  }
}

/** The step for `alive` requests: the nearest, of two equally near the smaller. */
function nearest(steps: readonly OwnStep[], alive: number): OwnStep | undefined {
  let best: OwnStep | undefined;
  for (const step of steps)
    if (!best || Math.abs(step.alive - alive) < Math.abs(best.alive - alive)) best = step;
  return best;
}
