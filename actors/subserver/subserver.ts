import { TokenrailError, toTokenrailError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { Logger } from '../../core/log.ts';
import { KvLedger } from '../../engine/kv.ts';
import type { EngineInfo } from '../../engine/engine.ts';
import { createSubserverLifecycle, type SubserverPhase } from '../../machines/index.ts';
import { encodeFrame } from '../../transport/codec.ts';
import type { Heartbeat, Message } from '../../transport/messages.ts';
import { Subjects } from '../../transport/subjects.ts';
import { ModelEstimator } from '../../scheduling/estimate/model-estimator.ts';
import { Announcer } from './announcer.ts';
import { BeaconBoard } from './beacon-board.ts';
import type { SubserverContext } from './context.ts';
import { Counters } from './counters.ts';
import { Heartbeats } from './heartbeats.ts';
import {
  completeOptions,
  type CompleteOptions,
  type SubserverDeps,
  type SubserverOptions,
} from './options.ts';
import { Outbox } from './outbox.ts';
import { PeerInboxes } from './peer-inboxes.ts';
import { ReadyQueue } from './ready-queue.ts';
import { RequestTable } from './request-table.ts';
import { Serving } from './serving.ts';
import { StepTap } from './step-tap.ts';
import { UnreachableModels } from './unreachable.ts';

/** One replica of one model: small or large, home or guest. */
export class Subserver {
  private readonly options: CompleteOptions;
  private readonly deps: SubserverDeps;
  private readonly logger: Logger;
  private readonly subjects: Subjects;
  private readonly instance: string;
  private readonly lifecycle = createSubserverLifecycle();
  /** Monotonic counters since start; they also travel in the heartbeats. */
  readonly counters = new Counters();
  private readonly heartbeats: Heartbeats;
  private serving: Serving | undefined;
  private stopping: Promise<void> | undefined;

  constructor(options: SubserverOptions, deps: SubserverDeps) {
    this.options = completeOptions(options);
    this.deps = deps;
    const { self: model, replica, deployment } = options;
    this.logger = deps.logger.child({ model: this.modelName(model), replica });
    this.subjects = new Subjects(deployment.namespace);
    this.instance = newId('i', deps.random, 12);
    const subject = this.subjects.heartbeat(this.modelName(model), replica);
    this.heartbeats = new Heartbeats(
      deps.clock,
      this.options.heartbeatMs,
      () => this.heartbeat(),
      (beat) => this.publish(subject, beat),
    );
  }

  get state(): SubserverPhase {
    return this.lifecycle.state;
  }

  /** Requests with state here, running or parked. */
  get numLive(): number {
    return this.serving?.context.table.size ?? 0;
  }

  /** Facts about the loaded engine; undefined before `start` has resolved. */
  get engineInfo(): EngineInfo | undefined {
    return this.serving?.context.info;
  }

  /** Loads the model, then takes requests. Heartbeats tell `starting` meanwhile. @throws TokenrailError of the engine */
  async start(): Promise<void> {
    this.heartbeats.start();
    try {
      const info = await this.deps.engine.start();
      if (this.stopping) throw new TokenrailError('shutting_down', 'stopped while the model was loading');
      this.serving = new Serving(this.context(info), this.deps.bus, {
        isServing: () => this.lifecycle.state === 'serving',
        onProbe: (reply) => this.publish(reply, this.heartbeat()),
        solver: this.deps.solver,
      });
      await this.serving.listen();
      this.lifecycle.send({ type: 'LOADED' });
    } catch (thrown) {
      const error = toTokenrailError(thrown, 'engine_failed');
      this.lifecycle.send({ type: 'LOAD_FAILED' });
      this.heartbeats.now();
      this.heartbeats.stop();
      throw error;
    }
    this.heartbeats.now();
    this.logger.info({ notes: this.engineInfo?.notes }, 'serving');
  }

  /**
   * Takes no new requests, finishes those it has, and stops after `timeoutMs` at the latest; what is left then
   * ends with an error (homes) or goes back to its home (guests).
   */
  async drain(timeoutMs: number): Promise<void> {
    if (this.lifecycle.state === 'serving') {
      this.lifecycle.send({ type: 'DRAIN' });
      this.heartbeats.now();
      await this.serving?.drain(timeoutMs);
    }
    await this.stop();
  }

  /** Ends now. A second call returns the same promise. */
  stop(): Promise<void> {
    this.stopping ??= this.shutDown();
    return this.stopping;
  }

  private async shutDown(): Promise<void> {
    await this.serving?.stop();
    this.lifecycle.send({ type: 'DRAINED' });
    this.lifecycle.send({ type: 'STOP' });
    this.heartbeats.now();
    this.heartbeats.stop();
    await this.deps.bus.flush().catch(() => undefined); // a lost bus must not keep the process
    await this.deps.engine.close();
  }

  private context(info: EngineInfo): SubserverContext {
    const { options, counters, subjects } = this;
    const { clock, bus, engine, routers } = this.deps;
    const name = this.modelName(options.self);
    const { self, replica, deployment, beaconMinIntervalMs: minIntervalMs, beaconStaleMs: staleMs } = options;
    const { home, models } = deployment;
    const { maxNumSeqs } = info;
    const estimator = new ModelEstimator({ self, home, numModels: models.length, maxNumSeqs });
    const announcer = new Announcer(
      { self, replica, minIntervalMs, staleMs },
      clock,
      () => estimator.estimates(),
      (beacon) => this.publish(subjects.beacon(name), beacon),
    );
    const outbox = new Outbox(bus, this.logger, (message, error) => this.serving?.onTooLarge(message, error));
    return {
      options,
      clock,
      logger: this.logger,
      subjects,
      engine,
      info,
      ledger: new KvLedger(info.numKvBlocks, info.blockSizeTokens),
      routers,
      table: new RequestTable(),
      ready: new ReadyQueue(),
      outbox,
      inboxes: new PeerInboxes(subjects, `${name}.${options.replica}`),
      counters,
      beacons: new BeaconBoard({ self, replica, home, staleMs }, clock),
      announcer,
      estimator,
      unreachable: new UnreachableModels(),
      ...this.tap(name),
      modelName: (model) => this.modelName(model),
      wake: () => this.serving?.wake(),
    };
  }

  private tap(name: string): { tap?: StepTap } {
    const { record, bus, clock, routers } = this.deps;
    const { self: model, replica, configHash } = this.options;
    if (record === undefined) return {};
    const source = { model, replica, configHash, subject: this.subjects.record(name) };
    return { tap: new StepTap(record, { bus, clock, logger: this.logger, routers, source }) };
  }

  private heartbeat(): Heartbeat {
    const context = this.serving?.context;
    const { self: model, replica, configHash } = this.options;
    const load = this.serving?.load() ?? { running: 0, waiting: 0, pending: 0, stepAgeMs: 0 };
    return {
      kind: 'heartbeat',
      model,
      replica,
      instance: this.instance,
      configHash,
      state: this.lifecycle.state,
      ...load,
      kvUsedBlocks: context?.ledger.usedBlocks ?? 0,
      kvTotalBlocks: context?.ledger.totalBlocks ?? 0,
      maxModelLenTokens: context?.info.maxModelLenTokens ?? 0,
      counters: this.counters.snapshot(),
      ...(this.serving ? { scheduling: this.serving.scheduling.report() } : {}),
    };
  }

  private publish(subject: string, message: Message): void {
    try {
      this.deps.bus.publish(subject, encodeFrame([message]));
    } catch (thrown) {
      this.logger.warn({ subject, code: toTokenrailError(thrown).code }, 'publish failed');
    }
  }

  private modelName(model: number): string {
    const entry = this.options.deployment.models.find(({ id }) => id === model);
    if (!entry) throw new TokenrailError('config_invalid', `no model ${model} in this deployment`);
    return entry.name;
  }
}

/** A subserver, not yet started. */
export function createSubserver(options: SubserverOptions, deps: SubserverDeps): Subserver {
  return new Subserver(options, deps);
}
