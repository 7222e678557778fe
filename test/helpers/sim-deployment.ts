import {
  createSubserver,
  type RecordOptions,
  type Subserver,
  type SubserverOptions,
} from '../../actors/subserver/index.ts';
import type { Deployment, RouterEntry } from '../../core/deployment.ts';
import { silentLogger } from '../../core/log.ts';
import type { ModelId, SamplingParams } from '../../core/request.ts';
import type { EngineInfo } from '../../engine/engine.ts';
import { loadRouterFactory } from '../../routers/registry.ts';
import type { Router, RouterFactory } from '../../routers/router.ts';
import { createPolicy, type PlanSolver, type PolicySpec, type StartPolicy } from '../../scheduling/index.ts';
import {
  SimulatedNetwork,
  VirtualClock,
  type NetworkOptions,
  type SimulatedBus,
} from '../../simulation/index.ts';
import type { RequestInit } from '../../transport/messages.ts';
import { Subjects } from '../../transport/subjects.ts';
import { ChainEngine, type ScriptedModel } from './chain-engine.ts';
import { SimClient } from './sim-client.ts';

export interface SimModel {
  name: string;
  model: ScriptedModel;
  replicas?: number;
  stepMs?: (rows: number, tokens: number) => number;
  info?: Partial<EngineInfo>;
  policy?: StartPolicy;
  /** Instead of `policy`: each replica has one of its own. */
  policySpec?: PolicySpec;
  options?: Partial<SubserverOptions>;
}

export interface SimDeploymentOptions {
  models: SimModel[];
  routers?: RouterEntry[];
  /** Factories by router id, for routers written in a test. */
  factories?: Record<string, RouterFactory>;
  network?: NetworkOptions;
  /** Plans for homes whose models schedule themselves; asked once per home replica. */
  solver?: (clock: VirtualClock) => PlanSolver;
  /** Every replica records. */
  record?: RecordOptions;
}

export interface SimReplica {
  model: ModelId;
  name: string;
  subserver: Subserver;
  engine: ChainEngine;
  bus: SimulatedBus;
}

export const greedy: SamplingParams = { temperature: 0, topP: 1, topK: -1, minP: 0, seed: 0 };

/** Real subservers in virtual time on a simulated network, with scripted models. */
export class SimDeployment {
  readonly clock = new VirtualClock();
  readonly network: SimulatedNetwork;
  readonly deployment: Deployment;
  readonly subjects: Subjects;
  readonly replicas: SimReplica[] = [];
  readonly routers = new Map<ModelId, Map<string, Router>>();
  client!: SimClient;
  private readonly options: SimDeploymentOptions;

  constructor(options: SimDeploymentOptions) {
    this.options = options;
    this.network = new SimulatedNetwork(this.clock, { hopMs: 0.1, ...options.network });
    const routers = options.routers ?? [{ id: 'r-stitch', use: 'r-stitch', options: { threshold: 0.03 } }];
    this.deployment = {
      namespace: 'sim',
      models: options.models.map(({ name }, index) => ({ id: index + 1, name })),
      home: 1,
      routers,
      defaultRouter: routers[0]?.id ?? '',
    };
    this.subjects = new Subjects('sim');
  }

  async start(client: { retryMs?: number } = {}): Promise<this> {
    const started: Promise<void>[] = [];
    for (const [index, model] of this.options.models.entries()) {
      const routers = await this.makeRouters(index + 1);
      this.routers.set(index + 1, routers);
      for (let n = 0; n < (model.replicas ?? 1); n += 1)
        started.push(this.add(index + 1, model, `r${n}`, routers));
    }
    let isReady = false;
    void Promise.all(started).then(() => {
      isReady = true;
    });
    await this.clock.runUntil(() => isReady, 1000, 1);
    const home = this.deployment.models[0]?.name ?? '';
    this.client = new SimClient(
      this.network.connect('client'),
      this.clock,
      this.subjects,
      home,
      client.retryMs,
    );
    return this;
  }

  /** Starts one more replica. */
  add(model: ModelId, spec: SimModel, replica: string, routers: Map<string, Router>): Promise<void> {
    const bus = this.network.connect(`${spec.name}.${replica}`);
    const { stepMs, info } = spec;
    const engine = new ChainEngine({
      model: spec.model,
      clock: this.clock,
      ...(stepMs ? { stepMs } : {}),
      ...(info ? { info } : {}),
    });
    const { solver, record } = this.options;
    const planning = solver && model === this.deployment.home ? { solver: solver(this.clock) } : {};
    const subserver = createSubserver(
      {
        deployment: this.deployment,
        self: model,
        replica,
        configHash: 'test',
        policy: spec.policy ?? createPolicy(spec.policySpec ?? { kind: 'eager' }),
        ...spec.options,
      },
      {
        bus,
        clock: this.clock,
        engine,
        logger: silentLogger,
        random: () => 0.5,
        routers,
        ...planning,
        ...(record ? { record } : {}),
      },
    );
    this.replicas.push({ model, name: replica, subserver, engine, bus });
    return subserver.start();
  }

  /** Sequence state left anywhere: 0 when every request has been released. */
  get numSequencesHeld(): number {
    return this.replicas.reduce((sum, { engine }) => sum + engine.kv.size, 0);
  }

  init(promptLen: number, change: Partial<RequestInit> & { maxTokens?: number } = {}): RequestInit {
    const { maxTokens = 20, ...rest } = change;
    return {
      promptLen,
      sampling: greedy,
      limits: { maxTokens, stopIds: [0] },
      router: this.deployment.defaultRouter,
      ...rest,
    };
  }

  private async makeRouters(self: ModelId): Promise<Map<string, Router>> {
    const routers = new Map<string, Router>();
    for (const entry of this.deployment.routers) {
      const factory =
        this.options.factories?.[entry.id] ?? (await loadRouterFactory(entry.use, process.cwd()));
      const { home, models } = this.deployment;
      routers.set(entry.id, factory({ self, home, models, options: entry.options }));
    }
    return routers;
  }
}
