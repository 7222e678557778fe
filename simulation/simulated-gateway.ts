import { AdmissionGate } from '../actors/gateway/admission-gate.ts';
import { Fleet } from '../actors/gateway/fleet.ts';
import type { Frontend, Submitted } from '../actors/gateway/frontend.ts';
import { HomeLink } from '../actors/gateway/home-link.ts';
import { FailureLog } from '../actors/gateway/metrics/failure-log.ts';
import { GatewayMetrics } from '../actors/gateway/metrics/gateway-metrics.ts';
import { parseGenerationRequest } from '../actors/gateway/openai/schema.ts';
import { resolveGatewayOptions, type GatewayDeps, type GatewaySettings } from '../actors/gateway/options.ts';
import { PlanMaker } from '../actors/gateway/plan-maker.ts';
import { RequestService } from '../actors/gateway/request-service.ts';
import type { Deployment } from '../core/deployment.ts';
import { Subjects } from '../transport/subjects.ts';
import { numberPrompts } from './number-prompts.ts';

export interface SimulatedGatewayOptions {
  deployment: Deployment;
  configHash: string;
  /** Ids below this are tokens. */
  vocabSize: number;
  /** Requests in work at once; as many may wait. */
  maxInflight: number;
  maxModelLenTokens: number;
}

/** Longer than any simulation: a replica that said once that it serves is not forgotten, however long its step. */
const FOREVER_MS = 1e12;

function settingsOf(options: SimulatedGatewayOptions): GatewaySettings {
  const { deployment, configHash, maxInflight, maxModelLenTokens } = options;
  return resolveGatewayOptions({
    id: 'gw',
    deployment,
    configHash,
    servedModelNames: ['simulated'],
    tokenizerDir: '',
    eosIds: [],
    defaultSampling: { temperature: 0, topP: 1, topK: -1, minP: 0 },
    maxInflight,
    maxQueue: maxInflight,
    maxModelLenTokens,
    heartbeatStaleMs: FOREVER_MS,
  });
}

/**
 * The parts of a gateway between its front-ends and the bus, composed as in actors/gateway/gateway.ts: the validation
 * of requests, the gate, their generations, the link to the homes, the metrics. There is no HTTP port, and prompts are
 * token ids, for which no tokenizer is needed.
 */
export class SimulatedGateway {
  readonly metrics: GatewayMetrics;
  private readonly link: HomeLink;
  private readonly service: RequestService;

  constructor(options: SimulatedGatewayOptions, deps: GatewayDeps) {
    const settings = settingsOf(options);
    const { deployment, configHash } = options;
    const home = deployment.models.find(({ id }) => id === deployment.home)?.name ?? '';
    this.metrics = new GatewayMetrics('simulated', home);
    const fleet = new Fleet(settings, deps.clock);
    const gatewayId = settings.id;
    const traffic = this.metrics;
    this.link = new HomeLink({
      ...deps,
      subjects: new Subjects(deployment.namespace),
      traffic,
      gatewayId,
      homeName: home,
      onHeartbeat: (heartbeat) => void fleet.observe(heartbeat),
    });
    const planMaker = new PlanMaker({
      settings,
      random: deps.random,
      fleet,
      prompts: numberPrompts(options.vocabSize),
      parse: (kind, body) => parseGenerationRequest(kind, body, settings.defaultSampling),
    });
    const { admitTimeoutMs, idleProbeMs, stopWaitMs } = settings;
    const bounds = { deployment, admitTimeoutMs, idleProbeMs, stopWaitMs, gatewayId, configHash };
    this.service = new RequestService({
      ...deps,
      settings,
      metrics: this.metrics,
      failures: new FailureLog(deps.clock, deps.logger),
      gate: new AdmissionGate(settings.maxInflight, settings.maxQueue),
      generation: { ...deps, ...bounds, link: this.link, traffic },
      phase: () => 'serving',
      planMaker: () => planMaker,
    });
  }

  start(): Promise<void> {
    return this.link.start();
  }

  /** A request as a client of `/v1/completions` makes it. Promises have to settle before it is on its way. */
  submit(body: Readonly<Record<string, unknown>>, frontend: Frontend): Submitted {
    return this.service.submit('completion', { model: 'simulated', ...body }, frontend);
  }
}
