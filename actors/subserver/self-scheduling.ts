import type { PlanSolver } from '../../scheduling/index.ts';
import type { PlanMessage, SchedulingReport } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import { PlanDesk } from './plan-desk.ts';
import { PlanLeader } from './plan-leader.ts';

/** Looking at estimates and trials more often than this finds nothing new. */
const TICK_MS = 20;

/** How this replica comes to its start policy: follows plans, and makes them where it leads. */
export class SelfScheduling {
  private readonly context: SubserverContext;
  private readonly desk: PlanDesk;
  private readonly leader: PlanLeader | undefined;
  private tickedMs = -Infinity;

  constructor(context: SubserverContext, solver: PlanSolver | undefined) {
    this.context = context;
    this.desk = new PlanDesk(context);
    this.leader = solver && new PlanLeader(context, this.desk, solver);
  }

  receive(plan: PlanMessage): void {
    const { self, replica } = this.context.options;
    if (plan.model !== self || plan.replica !== replica) this.desk.receive(plan);
  }

  /** A step has ended here. */
  stepEnded(): void {
    const nowMs = this.context.clock.nowMs();
    // The last step before nothing is left must be seen: what follows is no time of working.
    if (nowMs - this.tickedMs < TICK_MS && this.context.table.size > 0) return;
    this.tickedMs = nowMs;
    this.hearContention();
    this.leader?.tick(nowMs);
    this.desk.compare();
  }

  private hearContention(): void {
    const { beacons, estimator, options } = this.context;
    const claims = beacons.reports().flatMap(({ beacon, estimates }) => {
      return estimates && beacon.model !== options.self && estimates.overlapFactor < 1
        ? [estimates.overlapFactor]
        : [];
    });
    const mean = claims.reduce((sum, factor) => sum + factor, 0) / claims.length;
    estimator.hearOverlapFactor(claims.length > 0 ? mean : 1);
  }

  /** For heartbeats. */
  report(): SchedulingReport {
    const { beacons, estimator, table } = this.context;
    const alive = beacons.aliveFor(beacons.peers(), table.size, table.numAtHome);
    const state = this.desk.state(alive);
    const measured = this.leader?.measured;
    const estimates = estimator.estimates();
    return {
      ...state,
      ...(this.leader?.isTrial === true && state.reason === 'planned' ? { reason: 'trial' } : {}),
      alive,
      ...(measured === undefined ? {} : { measuredTokensPerSecond: measured }),
      ...(estimates === undefined ? {} : { estimates }),
    };
  }
}
