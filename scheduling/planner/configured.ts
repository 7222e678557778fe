import { DEFAULT_MAX_WAIT_MS, type PolicySpec } from '../create-policy.ts';
import type { PlanProblem } from './plan.ts';
import { waitingAtMost } from './proposal.ts';

/** What the configuration leaves to a plan: which models' policies it chooses, and how long rows may wait. */
export class Configured {
  private readonly own: readonly PolicySpec[] | undefined;
  private readonly maxWaitMs: number | undefined;

  constructor({ own, maxWaitMs }: Pick<PlanProblem, 'own' | 'maxWaitMs'> = {}) {
    this.own = own;
    this.maxWaitMs = maxWaitMs;
  }

  /** Whether a plan chooses the policy of this model, counted from 0. */
  isFree(model: number): boolean {
    return (this.own?.[model]?.kind ?? 'auto') === 'auto';
  }

  /** Policies as they run: models keep their own, all others get their ceiling. */
  settled(policies: readonly PolicySpec[]): PolicySpec[] {
    return policies.map((policy, model) => {
      const own = this.own?.[model];
      return own && !this.isFree(model) ? own : waitingAtMost(policy, this.ceilingMs(model));
    });
  }

  /** The shortest ceiling of a model that may wait. */
  leastCeilingMs(numModels: number): number {
    const ceilings = Array.from({ length: numModels }, (_, model) =>
      this.own?.[model]?.kind === 'eager' ? Infinity : (this.ceilingMs(model) ?? DEFAULT_MAX_WAIT_MS),
    );
    return Math.min(...ceilings);
  }

  private ceilingMs(model: number): number | undefined {
    return this.own ? (this.own[model]?.maxWaitMs ?? DEFAULT_MAX_WAIT_MS) : this.maxWaitMs;
  }
}
