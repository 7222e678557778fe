import { createSubserver, type Subserver, type SubserverOptions } from '../actors/subserver/index.ts';
import type { Deployment } from '../core/deployment.ts';
import { silentLogger, type Logger } from '../core/log.ts';
import { uniform, type RandomSource } from '../core/random.ts';
import type { ModelId } from '../core/request.ts';
import type { Engine } from '../engine/engine.ts';
import {
  createSimulatedEngine,
  SimulatedDevice,
  type RoutingLaw,
  type StepTimeModel,
} from '../engine/simulated/index.ts';
import type { Router } from '../routers/router.ts';
import { handoffRule, routeBy, type RoutingMatrices } from '../routers/simulated.ts';
import { AutoPolicy, type PlanSolver, type StartPolicy } from '../scheduling/index.ts';
import { InlineSolver } from '../scheduling/planner/index.ts';
import { SimulatedNetwork, type NetworkOptions } from './network.ts';
import { SimulatedGateway } from './simulated-gateway.ts';
import { StepRecorder, type StepRecord } from './step-recorder.ts';
import { VirtualClock } from './virtual-clock.ts';

/** One model of a simulated system. */
export interface SimulatedModel {
  stepTime: StepTimeModel;
  /** Default `bernoulli`. */
  law?: RoutingLaw;
  /** Makes the policy of one replica. */
  policy: () => StartPolicy;
  /** Default 1. */
  replicas?: number;
  /** Rows of one step at most. Default 1024. */
  maxNumSeqs?: number;
}

export interface SimulatedSystemOptions {
  models: readonly SimulatedModel[];
  /** Where rows go and what they commit, at the moment of asking. Which entries are zero must not change. */
  matrices: () => RoutingMatrices;
  /**
   * Below 1 the models share devices (the n-th replicas of all models one): while two run there, each goes at this
   * share of its speed. Default 1: a device for each engine.
   */
  overlapFactor?: number;
  /** Time and faults of the network. Default: no time passes. */
  network?: Partial<NetworkOptions>;
  /** Decides everything that is drawn. Default 0. */
  seed?: number;
  /** Requests in work at once. */
  maxInflight: number;
  /** Who plans for policies that schedule themselves. Default: at once, in no virtual time. */
  solver?: (clock: VirtualClock) => PlanSolver;
  /** Changes to the options of all subservers. */
  subserver?: Partial<SubserverOptions>;
  logger?: Logger;
  /** Told of every step after its rows were routed. */
  onStep?: (record: StepRecord) => void;
}

export interface SimulatedReplica {
  model: ModelId;
  name: string;
  subserver: Subserver;
}

export const SIMULATED_VOCABULARY = 1000;
export const SIMULATED_CONTEXT_TOKENS = 1_048_576;
const CONFIG_HASH = 'simulated';
const ROUTER = 'simulated';
const START_LIMIT_MS = 1000;
/** Nobody dies here: heartbeats and repeats would only be events to go through. */
const RARELY_MS = 3_600_000;

/**
 * The real actors (gateway, subservers, machines, codec, scheduler, routers) in virtual time on a simulated network, over
 * simulated engines. Model 1 is the home.
 */
export class SimulatedSystem {
  readonly clock = new VirtualClock();
  readonly network: SimulatedNetwork;
  readonly gateway: SimulatedGateway;
  readonly deployment: Deployment;
  readonly replicas: SimulatedReplica[] = [];
  private readonly options: SimulatedSystemOptions;
  private readonly devices = new Map<string, SimulatedDevice>();
  private readonly random: RandomSource;
  /** Undefined where no policy would follow a plan. */
  private readonly solver: PlanSolver | undefined;

  constructor(options: SimulatedSystemOptions) {
    this.options = options;
    const { seed = 0, models, maxInflight, logger = silentLogger } = options;
    this.network = new SimulatedNetwork(this.clock, { hopMs: 0, seed, ...options.network });
    this.deployment = {
      namespace: 'simulated',
      models: models.map((_, index) => ({ id: index + 1, name: `model-${index + 1}` })),
      home: 1,
      routers: [{ id: ROUTER, use: ROUTER, options: {} }],
      defaultRouter: ROUTER,
    };
    const isPlanned = models.some(({ policy }) => policy() instanceof AutoPolicy);
    if (isPlanned) this.solver = options.solver?.(this.clock) ?? new InlineSolver(this.clock);
    let numDraws = 0;
    this.random = () => uniform({ seed, position: (numDraws += 1), model: 0, purpose: 'admission' });
    this.gateway = new SimulatedGateway(
      {
        deployment: this.deployment,
        configHash: CONFIG_HASH,
        vocabSize: SIMULATED_VOCABULARY,
        maxInflight,
        maxModelLenTokens: SIMULATED_CONTEXT_TOKENS,
      },
      { bus: this.network.connect('gateway'), clock: this.clock, logger, random: this.random },
    );
  }

  async start(): Promise<this> {
    const starting = this.options.models.flatMap((model, index) =>
      Array.from({ length: model.replicas ?? 1 }, (_, n) => this.add(index + 1, model, `r${n}`).start()),
    );
    let isReady = false;
    const all = Promise.all([this.gateway.start(), ...starting]).then(() => {
      isReady = true;
    });
    await this.clock.runUntil(() => isReady, START_LIMIT_MS, 1);
    await all;
    return this;
  }

  /** Sum of a counter over the replicas of a model. */
  counter(model: ModelId, name: Parameters<Subserver['counters']['get']>[0]): number {
    const own = this.replicas.filter((replica) => replica.model === model);
    return own.reduce((sum, { subserver }) => sum + subserver.counters.get(name), 0);
  }

  private add(model: ModelId, spec: SimulatedModel, name: string): Subserver {
    const { clock, options, random } = this;
    const recorder = options.onStep && new StepRecorder(clock, model, name, options.onStep);
    const engine = this.engine(model, spec, name);
    const routers = new Map([[ROUTER, this.router(model)]]);
    const subserver = createSubserver(
      {
        deployment: this.deployment,
        self: model,
        replica: name,
        configHash: CONFIG_HASH,
        policy: spec.policy(),
        maxNumBatchedTokens: SIMULATED_CONTEXT_TOKENS,
        maxLiveRequests: 1_048_576,
        heartbeatMs: RARELY_MS,
        guestIdleMs: RARELY_MS,
        beaconMinIntervalMs: 0,
        ...options.subserver,
      },
      {
        bus: this.network.connect(`model-${model}.${name}`),
        clock,
        engine: recorder ? recorder.engine(engine) : engine,
        logger: options.logger ?? silentLogger,
        random,
        routers: recorder ? recorder.routers(routers) : routers,
        ...(this.solver ? { solver: this.solver } : {}),
      },
    );
    this.replicas.push({ model, name, subserver });
    return subserver;
  }

  private engine(model: ModelId, spec: SimulatedModel, replica: string): Engine {
    const { seed = 0 } = this.options;
    const { stepTime, law, maxNumSeqs } = spec;
    return createSimulatedEngine(
      {
        modelId: model,
        stepTime,
        seed,
        vocabSize: SIMULATED_VOCABULARY,
        maxModelLenTokens: SIMULATED_CONTEXT_TOKENS,
        ...(law === undefined ? {} : { law }),
        ...(maxNumSeqs === undefined ? {} : { maxNumSeqs }),
      },
      { clock: this.clock, device: this.device(model, replica) },
    );
  }

  private device(model: ModelId, replica: string): SimulatedDevice {
    const { overlapFactor = 1 } = this.options;
    const key = overlapFactor < 1 ? replica : `${model} ${replica}`;
    let device = this.devices.get(key);
    if (!device) this.devices.set(key, (device = new SimulatedDevice(this.clock, { overlapFactor })));
    return device;
  }

  private router(self: ModelId): Router {
    const { matrices } = this.options;
    const { home } = this.deployment;
    return {
      name: ROUTER,
      needs: {},
      ...handoffRule(matrices(), self, home),
      route: routeBy(matrices, self),
    };
  }
}
