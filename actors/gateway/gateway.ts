import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Subjects } from '../../transport/subjects.ts';
import { AdmissionGate } from './admission-gate.ts';
import { KeyCheck } from './auth.ts';
import { finishRequests } from './drain.ts';
import { Fleet } from './fleet.ts';
import { HomeLink } from './home-link.ts';
import { addAnswerRoutes } from './http/answer-routes.ts';
import { closeServer, trackUnusedSockets } from './http/close-server.ts';
import { createHttpServer, listen } from './http/server.ts';
import { addServiceRoutes } from './http/service-routes.ts';
import { registerFleetMetrics } from './metrics/fleet-metrics.ts';
import { FailureLog } from './metrics/failure-log.ts';
import { GatewayMetrics } from './metrics/gateway-metrics.ts';
import { BusIntake } from './nats/intake.ts';
import { parseGenerationRequest } from './openai/schema.ts';
import { ModelList } from './model-list.ts';
import {
  resolveGatewayOptions,
  type GatewayDeps,
  type GatewayOptions,
  type GatewaySettings,
} from './options.ts';
import { PlanMaker } from './plan-maker.ts';
import { loadPromptReader, type PromptReader } from './prompt-reader.ts';
import { readiness, type GatewayPhase, type Readiness } from './readiness.ts';
import { RequestService } from './request-service.ts';
import { serverInfo } from './server-info.ts';
import { packageVersion } from './version.ts';

/** A running gateway. */
export interface Gateway {
  /** Base URL, such as `http://127.0.0.1:8000`. */
  readonly url: string;
  readonly address: AddressInfo;
  readiness(): Readiness;
  /**
   * Takes no new requests (503, not ready), lets those in work finish for `timeoutMs` at most, ends the rest
   * with an error, then closes.
   */
  drain(timeoutMs: number): Promise<void>;
  /** Ends everything at once. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a gateway. The port is bound before anything slow happens, so that a taken one is noticed at once;
 * until the tokenizer is loaded and the subscriptions stand, requests are answered with 503.
 * @throws TokenrailError `port_unavailable`, `config_invalid`, `checkpoint_invalid`, `bus_unavailable`
 */
export async function startGateway(options: GatewayOptions, deps: GatewayDeps): Promise<Gateway> {
  const gateway = new GatewayActor(resolveGatewayOptions(options), deps);
  try {
    await gateway.start();
  } catch (thrown) {
    await gateway.close();
    throw thrown;
  }
  return gateway;
}

class GatewayActor implements Gateway {
  private readonly settings: GatewaySettings;
  private readonly deps: GatewayDeps;
  private readonly app: FastifyInstance;
  private readonly unusedSockets: ReadonlySet<Socket>;
  private readonly fleet: Fleet;
  private readonly link: HomeLink;
  private readonly service: RequestService;
  private readonly intake: BusIntake;
  private readonly metrics: GatewayMetrics;
  private phase: GatewayPhase = 'starting';
  private planMaker: PlanMaker | undefined;
  private prompts: PromptReader | undefined;
  private baseUrl = '';
  private closing: Promise<void> | undefined;

  constructor(settings: GatewaySettings, deps: GatewayDeps) {
    this.settings = settings;
    this.deps = deps;
    const { deployment } = settings;
    const home = deployment.models.find(({ id }) => id === deployment.home)?.name ?? '';
    this.metrics = new GatewayMetrics(settings.servedModelNames[0] ?? '', home);
    this.fleet = new Fleet(settings, deps.clock);
    const subjects = new Subjects(deployment.namespace);
    const traffic = this.metrics;
    const onHeartbeat: (heartbeat: Parameters<Fleet['observe']>[0]) => void = (heartbeat) => {
      if (!this.fleet.observe(heartbeat)) traffic.dropped('heartbeat_refused', 1);
    };
    const gatewayId = settings.id;
    this.link = new HomeLink({ ...deps, subjects, traffic, gatewayId, homeName: home, onHeartbeat });
    const gate = new AdmissionGate(settings.maxInflight, settings.maxQueue);
    this.service = this.makeService(gate);
    const { link, service } = this;
    const keys = new KeyCheck(settings.apiKeys);
    const { bodyLimitBytes } = settings;
    this.intake = new BusIntake({ ...deps, subjects, service, link, keys, traffic, bodyLimitBytes });
    registerFleetMetrics(this.metrics.registry, { fleet: this.fleet, gate, bus: deps.bus });
    this.app = this.makeServer();
    this.unusedSockets = trackUnusedSockets(this.app);
  }

  get url(): string {
    return this.baseUrl;
  }

  get address(): AddressInfo {
    return this.app.server.address() as AddressInfo;
  }

  async start(): Promise<void> {
    const { settings, deps } = this;
    this.baseUrl = await listen(this.app, settings.host, settings.port);
    this.prompts = loadPromptReader(settings.tokenizerDir, deps.clock);
    this.planMaker = new PlanMaker({
      settings,
      random: deps.random,
      fleet: this.fleet,
      prompts: this.prompts,
      parse: (kind, body) => parseGenerationRequest(kind, body, settings.defaultSampling),
    });
    this.intake.start();
    await this.link.start();
    if (this.phase === 'starting') this.phase = 'serving';
    deps.logger.info({ url: this.baseUrl, gateway: settings.id }, 'gateway listens');
  }

  readiness(): Readiness {
    return readiness(this.settings.deployment, this.phase, this.deps.bus.status, this.fleet.replicas());
  }

  async drain(timeoutMs: number): Promise<void> {
    if (this.phase !== 'closed') this.phase = 'draining';
    await this.intake.stop();
    await finishRequests(this.service, this.deps.clock, timeoutMs);
    await this.close();
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    this.phase = 'closed';
    const { clock } = this.deps;
    await finishRequests(this.service, clock, 0);
    await this.intake.stop();
    this.link.close();
    await closeServer(this.app, this.unusedSockets, clock);
    await this.prompts?.close();
  }

  private makeService(gate: AdmissionGate): RequestService {
    const { settings, deps, link } = this;
    const { deployment, admitTimeoutMs, idleProbeMs, stopWaitMs } = settings;
    const bounds = {
      deployment,
      admitTimeoutMs,
      idleProbeMs,
      stopWaitMs,
      gatewayId: settings.id,
      configHash: settings.configHash,
    };
    return new RequestService({
      ...deps,
      settings,
      metrics: this.metrics,
      failures: new FailureLog(deps.clock, deps.logger),
      gate,
      generation: { ...deps, ...bounds, link, traffic: this.metrics },
      phase: () => this.phase,
      planMaker: () => this.planMaker,
    });
  }

  private makeServer(): FastifyInstance {
    const { settings, deps } = this;
    const { retryAfterSeconds, keepAliveMs, maxStreamBufferBytes } = settings;
    const app = createHttpServer({ ...settings, logger: deps.logger });
    addServiceRoutes(app, {
      models: new ModelList({
        ...settings,
        createdSeconds: Math.floor(deps.clock.epochMs() / 1000),
        maxModelLenTokens: () => this.fleet.maxModelLenTokens(),
      }),
      version: packageVersion(),
      readiness: () => this.readiness(),
      registry: this.metrics.registry,
      serverInfo: () =>
        serverInfo(
          packageVersion(),
          settings.deployment.models.map(({ name }) => name),
          this.fleet,
        ),
      retryAfterSeconds,
    });
    const { service } = this;
    const stream = { clock: deps.clock, keepAliveMs, maxBufferBytes: maxStreamBufferBytes };
    addAnswerRoutes(app, { service, ...stream, retryAfterSeconds });
    return app;
  }
}
