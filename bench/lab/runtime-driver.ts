import { createSubserver, type Subserver, type SubserverOptions } from '../../actors/subserver/index.ts';
import type { Clock } from '../../core/clock.ts';
import type { Deployment } from '../../core/deployment.ts';
import type { Logger } from '../../core/log.ts';
import { SystemClock } from '../../core/system-clock.ts';
import type { Engine } from '../../engine/engine.ts';
import { loadRouterFactory } from '../../routers/registry.ts';
import type { Router } from '../../routers/router.ts';
import type { PlanSolver, StartPolicy } from '../../scheduling/index.ts';
import type { Bus } from '../../transport/bus.ts';
import { connectNats } from '../../transport/nats.ts';
import { Subjects } from '../../transport/subjects.ts';
import type { BenchRequest, Driver, RequestSink } from '../baselines/driver.ts';
import { AdmitClient } from './admit-client.ts';
import { BusMeter } from './bus-meter.ts';

export interface RuntimeOptions {
  name: string;
  deployment: Deployment;
  natsUrl: string;
  /** Home first. */
  policies: readonly [StartPolicy, StartPolicy];
  maxNumBatchedTokens: number;
  /** The subservers' clock. */
  clock: Clock;
  logger: Logger;
  /** The engine of a model; `meter` is that model's connection to the bus. */
  engineOf: (model: number, meter: BusMeter) => Engine;
  /** Plans for policies that schedule themselves; closed with the driver. */
  solver?: PlanSolver | undefined;
}

/** All routers of a deployment for one model. */
export async function routersFor(deployment: Deployment, self: number): Promise<Map<string, Router>> {
  const routers = new Map<string, Router>();
  for (const { id, use, options } of deployment.routers) {
    const factory = await loadRouterFactory(use, process.cwd());
    routers.set(id, factory({ self, home: deployment.home, models: deployment.models, options }));
  }
  return routers;
}

/**
 * The real thing: one subserver per model with machines, queues, codec and protocol, over a real bus. All of it in this
 * process and on one thread, engines in threads of their own; the client speaks the gateway's protocol. What is left
 * out against `tokenrail serve`: the gateway with HTTP and text.
 */
export class RuntimeDriver implements Driver {
  readonly name: string;
  readonly subservers: Subserver[] = [];
  private readonly options: RuntimeOptions;
  private readonly buses: Bus[] = [];
  private client: AdmitClient | undefined;

  constructor(options: RuntimeOptions) {
    this.name = options.name;
    this.options = options;
  }

  async start(sink: RequestSink): Promise<void> {
    const { deployment } = this.options;
    const subjects = new Subjects(deployment.namespace);
    for (const { id } of deployment.models) await this.startSubserver(id, subjects);
    const bus = await this.connect('client', subjects.inbox('gateway', 'bench', 'request'));
    const home = deployment.models[deployment.home - 1]?.name ?? '';
    this.client = new AdmitClient(bus, subjects, { home, router: deployment.defaultRouter });
    await this.client.start(sink);
  }

  submit(request: BenchRequest): void {
    this.client?.submit(request);
  }

  async close(): Promise<void> {
    for (const subserver of this.subservers.splice(0)) await subserver.stop();
    await this.options.solver?.close();
    for (const bus of this.buses.splice(0)) await bus.close();
  }

  private async startSubserver(self: number, subjects: Subjects): Promise<void> {
    const { deployment, policies, maxNumBatchedTokens, clock, logger, engineOf } = this.options;
    const replica = `bench-${self}`;
    const bus = await this.connect(replica, subjects.inbox('subserver', replica, 'request'));
    const meter = new BusMeter(bus);
    const policy = policies[self - 1];
    if (policy === undefined) throw new Error(`no policy for model ${self}`);
    const options: SubserverOptions = {
      deployment,
      self,
      replica,
      configHash: 'bench',
      policy,
      maxNumBatchedTokens,
    };
    const routers = await routersFor(deployment, self);
    const engine = engineOf(self, meter);
    const subserver = createSubserver(options, {
      bus: meter,
      clock,
      engine,
      logger,
      random: Math.random,
      routers,
      ...(this.options.solver ? { solver: this.options.solver } : {}),
    });
    await subserver.start();
    this.subservers.push(subserver);
  }

  private async connect(name: string, inboxPrefix: string): Promise<Bus> {
    const { natsUrl, logger } = this.options;
    const bus = await connectNats({
      servers: natsUrl,
      name: `bench ${name}`,
      clock: new SystemClock(),
      logger,
      inboxPrefix,
    });
    this.buses.push(bus);
    return bus;
  }
}
