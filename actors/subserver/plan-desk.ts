import { toTokenrailError } from '../../core/errors.ts';
import { AutoPolicy, checkPolicySpec, createPolicy, type PolicySpec } from '../../scheduling/index.ts';
import { hasShareMoved, type Tolerance } from '../../scheduling/tuner/moved.ts';
import { SteadyCount } from '../../scheduling/tuner/steady-count.ts';
import { thresholdFor } from '../../scheduling/rows-to-wait-for.ts';
import type { PlanMessage, PlannedPolicy, PlanStep } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';

/** The own routing must leave the plan's by this much before the plan is left: look-ahead is close to it anyway. */
const LEFT: Tolerance = { routing: 0.5, deviations: 6, stepMs: Infinity, overlap: Infinity, jitter: 0 };
/** … for so long: a hard passage of one of two answers is over sooner. */
const LEFT_FOR_MS = 100;

/** What decides is looked at for the log so often. */
const LOG_LOOK_MS = 100;
/** Changes that follow each other faster are told by the last of them. */
const LOG_INTERVAL_MS = 1000;
/** The same for those that only follow the number of requests alive. */
const LOG_SAME_PLAN_INTERVAL_MS = 30_000;

/** A leader that was not heard of for so long has no say any more. */
const LEADER_STALE_MS = 2000;

/** The newest plan and what this replica makes of it. */
export class PlanDesk {
  private readonly context: SubserverContext;
  private readonly auto: AutoPolicy | undefined;
  private newest: PlanMessage | undefined;
  private receivedMs = 0;
  private logged = '';
  private loggedWhy = '';
  private loggedMs = -Infinity;
  private lookedMs = -Infinity;
  private awaySinceMs: number | undefined;
  private readonly alive = new SteadyCount();

  constructor(context: SubserverContext) {
    this.context = context;
    const { policy } = context.options;
    this.auto = policy instanceof AutoPolicy ? policy : undefined;
  }

  /** A plan off the bus. One that cannot be used as a whole is dropped as a whole. */
  receive(message: PlanMessage): void {
    if (this.isUsable(message)) this.follow(message);
    else this.context.counters.add('dropped_messages');
  }

  /** Follows a plan, unless a better leader has said otherwise lately. */
  follow(message: PlanMessage): void {
    const nowMs = this.context.clock.nowMs();
    if (this.isOvertaken(message, nowMs)) return;
    const isRepeated = isSamePlan(this.newest, message);
    this.receivedMs = nowMs;
    if (!isRepeated) this.newest = message;
    if (!this.newest || !this.auto) return;
    this.auto.follow({ steps: this.ownSteps(this.newest), receivedMs: nowMs });
    this.compare();
    if (!isRepeated) this.context.wake();
  }

  /** Compares the own estimates with those of the plan; called as they change. */
  compare(): void {
    const { estimator, options } = this.context;
    const planned = this.newest?.routing[options.self - 1];
    if (!planned || !this.auto) return;
    const { numOutcomes } = estimator;
    const isAway = planned.some((share, j) =>
      hasShareMoved(share, estimator.shareTo(j + 1), numOutcomes, LEFT),
    );
    const nowMs = this.context.clock.nowMs();
    this.awaySinceMs = isAway ? (this.awaySinceMs ?? nowMs) : undefined;
    this.auto.outdate(this.awaySinceMs !== undefined && nowMs - this.awaySinceMs >= LEFT_FOR_MS);
    if (nowMs - this.lookedMs < LOG_LOOK_MS) return;
    this.lookedMs = nowMs;
    this.logChange();
  }

  /** Whether a plan decides here; true with a policy of its own, which no plan can change. */
  isFollowing(alive: number): boolean {
    return this.auto?.stateAt(this.context.clock.nowMs(), alive).reason !== 'estimates moved';
  }

  /** What decides now and why. */
  state(alive: number): {
    policy: string;
    reason: string;
    threshold?: number;
    predictedTokensPerSecond?: number;
  } {
    const { policy } = this.context.options;
    if (!this.auto) return { policy: policy.name, reason: 'configured' };
    const { policy: name, reason, step } = this.auto.stateAt(this.context.clock.nowMs(), alive);
    return {
      policy: name,
      reason,
      ...(step?.threshold === undefined ? {} : { threshold: step.threshold }),
      ...(step === undefined ? {} : { predictedTokensPerSecond: step.tokensPerSecond }),
    };
  }

  private isUsable({ model, routing, steps }: PlanMessage): boolean {
    const { home, models } = this.context.options.deployment;
    if (model !== home || routing.length !== models.length) return false;
    return steps.every((step) => step.policies.length === models.length && step.policies.every(isKnown));
  }

  /** The leader is the home replica of the smallest name; plans of one that has fallen silent are open to all. */
  private isOvertaken({ replica, number }: PlanMessage, nowMs: number): boolean {
    const { newest } = this;
    if (!newest || nowMs - this.receivedMs > LEADER_STALE_MS) return false;
    return newest.replica === replica ? number < newest.number : newest.replica < replica;
  }

  private ownSteps(plan: PlanMessage): Parameters<AutoPolicy['follow']>[0]['steps'] {
    const { self } = this.context.options;
    return plan.steps.flatMap(({ alive, name, tokensPerSecond, policies }: PlanStep) => {
      const own = policies[self - 1];
      if (!own) return [];
      const threshold = own.threshold === undefined ? undefined : thresholdFor(own.threshold, alive);
      return [{ alive, name, tokensPerSecond, policy: createPolicy(own as PolicySpec), threshold }];
    });
  }

  /** One line per change, so that a log tells what decides and on what grounds. */
  private logChange(): void {
    const { beacons, estimator, options, table, logger } = this.context;
    const nowMs = this.context.clock.nowMs();
    this.alive.observe(beacons.aliveFor(beacons.peers(), table.size, table.numAtHome), nowMs);
    const alive = this.alive.value;
    const state = this.state(alive);
    const line = `${state.policy} ${state.reason}`;
    const why = `${state.reason} ${this.newest?.replica} ${this.newest?.number}`;
    const intervalMs = why === this.loggedWhy ? LOG_SAME_PLAN_INTERVAL_MS : LOG_INTERVAL_MS;
    if (line === this.logged || nowMs - this.loggedMs < intervalMs) return;
    this.logged = line;
    this.loggedWhy = why;
    this.loggedMs = nowMs;
    const shares = options.deployment.models.map(({ id }) => round(estimator.shareTo(id)));
    const { overlapFactor, jitter } = estimator;
    const stepMs = round(estimator.stepMs(Math.max(1, Math.min(alive, this.context.info.maxNumSeqs))));
    logger.info(
      {
        ...state,
        alive,
        routing: shares,
        stepMs,
        overlapFactor: round(overlapFactor),
        jitter: round(jitter),
      },
      'starts steps by another policy',
    );
  }
}

const round = (value: number): number => Math.round(value * 1000) / 1000;

/** A leader that was started anew counts from the beginning: its number alone does not tell its plans from the former ones. */
function isSamePlan(a: PlanMessage | undefined, b: PlanMessage): boolean {
  return (
    a?.replica === b.replica &&
    a.number === b.number &&
    a.routing.length === b.routing.length &&
    a.routing.every((row, i) => row.join() === b.routing[i]?.join())
  );
}

/** A policy that this version knows, and that is none that plans. */
function isKnown(policy: PlannedPolicy): boolean {
  if (policy.kind === 'auto') return false;
  try {
    checkPolicySpec(policy as PolicySpec);
    return true;
  } catch (thrown) {
    if (toTokenrailError(thrown).code === 'config_invalid') return false;
    throw thrown;
  }
}
