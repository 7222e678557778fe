import type { Clock } from '../../core/clock.ts';
import type { Deployment } from '../../core/deployment.ts';
import type { Logger } from '../../core/log.ts';
import type { RandomSource } from '../../core/random.ts';
import type { ModelId } from '../../core/request.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Router } from '../../routers/router.ts';
import type { PlanSolver, PolicySpec, StartPolicy } from '../../scheduling/index.ts';
import type { Bus } from '../../transport/bus.ts';
import type { RecordOptions } from './step-tap.ts';

export interface SubserverOptions {
  deployment: Deployment;
  /** The model this subserver runs. */
  self: ModelId;
  /** Name of this replica, unique among the replicas of the model. */
  replica: string;
  configHash: string;
  /** When a step starts. */
  policy: StartPolicy;
  /**
   * The policies of all models as this replica's configuration has them, in the order of ids: whoever leads plans around
   * those that are not `auto`. Default: as if all were.
   */
  policies?: readonly PolicySpec[];
  /** Tokens of one step at most, over all rows; longer prompts are fed in chunks. Default 512. */
  maxNumBatchedTokens?: number;
  /** Requests with state here at most, parked ones included; above it new ones are refused. Default 1024. */
  maxLiveRequests?: number;
  /** A handoff without any answer is repeated after this time, then after twice, four times … Default 1000 ms. */
  resendMs?: number;
  /** Unanswered repeats before a replica counts as gone. Default 4. */
  maxResends?: number;
  /** Default 500 ms. */
  heartbeatMs?: number;
  /** Least time between two beacons. Default 1 ms. */
  beaconMinIntervalMs?: number;
  /** A beacon older than this says nothing any more. Default 2000 ms. */
  beaconStaleMs?: number;
  /**
   * A parked guest's state is dropped after this time without a word (its home can always send it again), and much sooner
   * when its home announces nothing any more. Default 120 s.
   */
  guestIdleMs?: number;
  /** So long nobody is sent to a model of which no replica listens. Default 1 s. */
  absentModelMs?: number;
  /** So long nobody is sent to a model that left handoffs without an answer or refused them. Default 5 s. */
  silentModelMs?: number;
}

export interface SubserverDeps {
  bus: Bus;
  clock: Clock;
  engine: Engine;
  logger: Logger;
  random: RandomSource;
  /** One instance per router of the deployment, made for this model. */
  routers: ReadonlyMap<string, Router>;
  /**
   * Computes plans for policies that schedule themselves; used while this replica leads (a home, the smallest name among
   * those that are heard). Without it they look ahead on their own. Closed by whoever made it.
   */
  solver?: PlanSolver;
  /** Publishes what the steps saw and decided. Default: nothing is asked for or published. */
  record?: RecordOptions;
}

export type CompleteOptions = Required<Omit<SubserverOptions, 'policies'>> &
  Pick<SubserverOptions, 'policies'>;

export function completeOptions(options: SubserverOptions): CompleteOptions {
  return {
    maxNumBatchedTokens: 512,
    maxLiveRequests: 1024,
    resendMs: 1000,
    maxResends: 4,
    heartbeatMs: 500,
    beaconMinIntervalMs: 1,
    beaconStaleMs: 2000,
    guestIdleMs: 120_000,
    absentModelMs: 1000,
    silentModelMs: 5000,
    ...options,
  };
}
