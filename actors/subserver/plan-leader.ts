import type { ModelId } from '../../core/request.ts';
import { AutoPolicy, type PlanSolver, type PolicySpec } from '../../scheduling/index.ts';
import type { Work } from '../../scheduling/tuner/luck.ts';
import type { ModelReports } from '../../scheduling/tuner/system-of.ts';
import { Tuner } from '../../scheduling/tuner/tuner.ts';
import type { LoadEstimates, PlanMessage } from '../../transport/messages.ts';
import type { SubserverContext } from './context.ts';
import type { PlanDesk } from './plan-desk.ts';
import { TokenTally } from './token-tally.ts';

/** A plan is said again after this time: whoever missed it, or has just started, waits no longer. */
const REPEAT_MS = 500;

/**
 * Plans for the whole system while this replica leads: of the home's replicas that are heard, the one with the smallest name.
 * Works on the ends of steps: without any there is nothing to plan.
 */
export class PlanLeader {
  private readonly context: SubserverContext;
  private readonly desk: PlanDesk;
  private readonly tuner: Tuner;
  private number = 0;
  private saidMs = -Infinity;
  private readonly tally = new TokenTally();

  constructor(context: SubserverContext, desk: PlanDesk, solver: PlanSolver) {
    this.context = context;
    this.desk = desk;
    const { policy, policies, deployment } = context.options;
    const limits = policy instanceof AutoPolicy ? policy.options : {};
    this.tuner = new Tuner({
      home: deployment.home,
      solver,
      ...limits,
      ...(policies === undefined ? {} : { own: policies, admissionP99Ms: smallestBound(policies) }),
      onError: (error) => context.logger.warn({ err: error }, 'planning failed; looking ahead meanwhile'),
    });
  }

  /** Measured tokens per second of the present choice; undefined while this replica does not lead. */
  get measured(): number | undefined {
    return this.isLeader() ? this.tuner.trials?.measured : undefined;
  }

  get isTrial(): boolean {
    return this.tuner.trials?.isTrial ?? false;
  }

  /** To be called often while steps run here. */
  tick(nowMs: number): void {
    if (!this.isLeader()) return;
    const { beacons, table } = this.context;
    const alive = beacons.aliveFor(beacons.peers(), table.size, table.numAtHome);
    const models = this.tuner.isLookDue(nowMs, alive) ? this.reports() : undefined;
    const isFollowed = this.desk.isFollowing(alive);
    const counts = { tokens: this.tokens(alive), work: this.work() };
    const isChanged = this.tuner.tick({ nowMs, alive, models, ...counts, isFollowed });
    if (isChanged) this.number += 1;
    if (isChanged || nowMs - this.saidMs >= REPEAT_MS) this.say(nowMs);
  }

  private isLeader(): boolean {
    const { self, replica, deployment } = this.context.options;
    if (self !== deployment.home) return false;
    const others = this.context.beacons.reports().filter(({ beacon }) => beacon.model === self);
    return others.every(({ beacon }) => replica < beacon.replica);
  }

  /** Estimates by model: the own ones, and those that beacons brought. Of another number of models: not ours. */
  private reports(): ModelReports[] {
    const { beacons, estimator, options } = this.context;
    const { models } = options.deployment;
    const isOurs = ({ routing, commits, curve }: LoadEstimates): boolean =>
      routing.length === models.length &&
      commits.length === models.length &&
      curve.length > 0 &&
      routing.reduce((sum, share) => sum + share, 0) > 0;
    const own = estimator.estimates();
    const heard = beacons.reports();
    const of = (model: ModelId): LoadEstimates[] => {
      const all = heard.filter(({ beacon }) => beacon.model === model).map(({ estimates }) => estimates);
      const withOwn = model === options.self ? [own, ...all] : all;
      return withOwn.filter((one): one is LoadEstimates => one !== undefined && isOurs(one));
    };
    return models.map(({ id }) => of(id));
  }

  /** Tokens of all homes. */
  private tokens(alive: number): number {
    const { counters, table } = this.context;
    return this.tally.observe(
      counters.get('answer_tokens'),
      table.numAtHome > 0 ? alive / table.numAtHome : 1,
    );
  }

  private work(): Work {
    const { counters } = this.context;
    return {
      answerTokens: counters.get('answer_tokens'),
      ownTokens: counters.get('generation_tokens'),
      fedTokens: counters.get('step_tokens'),
    };
  }

  private say(nowMs: number): void {
    const { options, outbox, subjects, modelName } = this.context;
    const steps = this.tuner.steps().map(({ alive, name, tokensPerSecond, policies }) => {
      return { alive, name, tokensPerSecond, policies };
    });
    const { system } = this.tuner;
    if (steps.length === 0 || !system) return;
    const { self: model, replica } = options;
    const { routing } = system;
    const plan: PlanMessage = { kind: 'plan', model, replica, number: this.number, routing, steps };
    this.saidMs = nowMs;
    this.desk.follow(plan);
    outbox.post(subjects.beacon(modelName(model)), plan);
    outbox.flush();
  }
}

/** The shortest delay that a model asks for is asked of all; undefined where none does. */
function smallestBound(own: readonly PolicySpec[]): number | undefined {
  const bounds = own.flatMap(({ admissionP99Ms }) => (admissionP99Ms === undefined ? [] : [admissionP99Ms]));
  return bounds.length > 0 ? Math.min(...bounds) : undefined;
}
