import { startGateway } from '../../actors/gateway/index.ts';
import type { GatewayOptions } from '../../actors/gateway/index.ts';
import { newId } from '../../core/ids.ts';
import { connectNats } from '../../transport/nats.ts';
import { Subjects } from '../../transport/subjects.ts';
import { readCheckpointFacts } from '../checkpoint-facts.ts';
import { requireFreePort } from '../ports.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { RoleContext, RunningRole } from './role.ts';

export interface GatewayInfo {
  url: string;
}

function gatewayOptions(resolved: ResolvedConfig, id: string): GatewayOptions {
  const { config, deployment, configHash, models } = resolved;
  const { advanced } = config;
  const facts = models.map((model) => readCheckpointFacts(model.path));
  const home = deployment.home - 1;
  return {
    id,
    deployment,
    configHash,
    servedModelNames: config.servedModelName,
    tokenizerDir: models[home]?.path ?? '',
    eosIds: [...new Set(facts.flatMap((fact) => fact.eosIds))],
    // The largest model answers alone where the pair is one; the home's file speaks for the deployment.
    defaultSampling: facts[home]?.defaultSampling ?? { temperature: 0, topP: 1, topK: -1, minP: 0 },
    host: config.host,
    port: config.port,
    apiKeys: config.apiKey,
    maxInflight: config.maxInflight,
    maxQueue: config.maxQueue,
    bodyLimitBytes: advanced.maxBodyBytes,
    keepAliveMs: advanced.keepAliveMs,
    admitTimeoutMs: advanced.admitTimeoutMs,
    idleProbeMs: advanced.idleProbeMs,
    heartbeatStaleMs: advanced.heartbeatStaleMs,
    stepHungMs: advanced.stepHungMs,
    ...(config.requestTimeout === undefined ? {} : { deadlineMs: config.requestTimeout * 1000 }),
    ...(config.maxModelLen === undefined ? {} : { maxModelLenTokens: config.maxModelLen }),
  };
}

/** Composition root of a gateway process. @throws TokenrailError `port_unavailable`, `bus_unavailable`, … */
export async function startGatewayRole(context: RoleContext): Promise<RunningRole<GatewayInfo>> {
  const { resolved, clock, logger } = context;
  const { config } = resolved;
  // Before the broker is asked: a busy port is the commonest mistake and shall show at once.
  await requireFreePort(config.host, config.port);
  const id = newId('gw', Math.random, 8);
  const bus = await connectNats({
    servers: context.natsUrl,
    inboxPrefix: new Subjects(resolved.deployment.namespace).inbox('gateway', id, 'request'),
    name: `tokenrail gateway ${id}`,
    ...(context.natsToken === undefined ? {} : { token: context.natsToken }),
    logger,
    clock,
    connectTimeoutMs: config.advanced.connectTimeoutMs,
  });
  try {
    const gateway = await startGateway(gatewayOptions(resolved, id), {
      bus,
      clock,
      logger,
      random: Math.random,
    });
    return {
      info: { url: gateway.url },
      drain: (timeoutMs) => gateway.drain(timeoutMs).finally(() => bus.close()),
      stop: () => gateway.close().finally(() => bus.close()),
    };
  } catch (thrown) {
    await bus.close();
    throw thrown;
  }
}
