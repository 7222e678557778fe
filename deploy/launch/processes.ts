import type { Clock } from '../../core/clock.ts';
import { TokenrailError, toTokenrailError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { BrokerInfo } from '../roles/broker.ts';
import { requireFreePort } from '../ports.ts';
import type { GatewayInfo } from '../roles/gateway.ts';
import type { SubserverInfo } from '../roles/subserver.ts';
import { deferred } from './deferred.ts';
import { describeExit } from './forked-role.ts';
import type { RoleExit } from './forked-role.ts';
import type { Launched } from './launched.ts';
import { Prepared } from './prepared.ts';
import { waitUntilReady } from './readiness.ts';
import { RestartingRole } from './restarting-role.ts';

export interface LaunchDeps {
  resolved: ResolvedConfig;
  clock: Clock;
  logger: Logger;
}

/** Least time for subservers to end in good order after the gateway has. */
const LEAST_DRAIN_MS = 500;

/** One process per subserver, one for the gateway, one for the broker. */
class ProcessFleet implements Launched {
  readonly url: string;
  readonly broker: BrokerInfo;
  readonly ready: Promise<boolean>;
  readonly ended: Promise<Error | undefined>;
  private readonly deps: LaunchDeps;
  private readonly parts: FleetParts;
  private readonly end = deferred<Error | undefined>();
  private readonly ending = new AbortController();

  constructor(parts: FleetParts, deps: LaunchDeps) {
    this.parts = parts;
    this.deps = deps;
    this.url = parts.url;
    this.broker = parts.brokerInfo;
    this.ended = this.end.promise;
    parts.onFatal((error) => void this.fail(error));
    this.ready = waitUntilReady(this.url, {
      signal: this.ending.signal,
      onWaiting: (body) => deps.logger.warn({ readiness: body }, 'still waiting for the models'),
    });
  }

  subservers(): readonly SubserverInfo[] {
    return this.parts.subservers.flatMap(({ info }) => (info === undefined ? [] : [info]));
  }

  async drain(timeoutMs: number): Promise<void> {
    const { gateway, subservers, broker } = this.parts;
    const startedMs = this.deps.clock.nowMs();
    this.beginEnd();
    await gateway.drain(timeoutMs);
    const leftMs = Math.max(LEAST_DRAIN_MS, timeoutMs - (this.deps.clock.nowMs() - startedMs));
    await Promise.all(subservers.map((subserver) => subserver.drain(leftMs)));
    await broker?.stop();
    this.end.resolve(undefined);
  }

  async stop(): Promise<void> {
    const { gateway, subservers, broker } = this.parts;
    this.beginEnd();
    await Promise.all([gateway, ...subservers].map((role) => role.stop()));
    await broker?.stop();
    this.end.resolve(undefined);
  }

  private beginEnd(): void {
    this.ending.abort();
    for (const role of [this.parts.gateway, ...this.parts.subservers]) role.giveUp();
  }

  private async fail(error: Error): Promise<void> {
    if (this.ending.signal.aborted) return;
    this.deps.logger.error({}, error.message);
    this.end.resolve(error);
    await this.stop();
  }
}

interface FleetParts {
  url: string;
  brokerInfo: BrokerInfo;
  broker: Prepared['broker'];
  gateway: RestartingRole<GatewayInfo>;
  subservers: readonly RestartingRole<SubserverInfo>[];
  /** Registers who is told about what cannot be mended by a restart. */
  onFatal(listener: (error: Error) => void): void;
}

/** A wrong configuration does not get better by starting again. */
const isFatal = ({ failure }: RoleExit): boolean => failure?.code === 'config_invalid';

const givenBroker = async (deps: LaunchDeps): Promise<BrokerInfo> =>
  (await (await import('../roles/broker.ts')).startBrokerRole(deps)).info;

async function startParts(prepared: Prepared, deps: LaunchDeps, maskIdsFrom: number): Promise<FleetParts> {
  const { resolved } = deps;
  const fatal = deferred<Error>();
  prepared.broker?.run({ role: 'broker' }, resolved);
  const brokerInfo = await (prepared.broker?.ready ?? givenBroker(deps));
  const natsUrl = brokerInfo.url;
  void prepared.broker?.exited.then((exit) =>
    fatal.resolve(new TokenrailError('bus_unavailable', `the broker ended: ${describeExit(exit)}`)),
  );
  const onExit = (exit: RoleExit): void => {
    if (isFatal(exit) && exit.failure !== undefined) fatal.resolve(exit.failure);
  };
  const subservers = prepared.subservers.map(({ modelName, name, role }) => {
    const spec = { role: 'subserver', natsUrl, modelName, maskIdsFrom } as const;
    return new RestartingRole(name, spec, { ...deps, prepared: role, onExit });
  });
  const gateway = new RestartingRole(
    'gateway',
    { role: 'gateway', natsUrl },
    { ...deps, prepared: prepared.gateway },
  );
  for (const subserver of subservers) subserver.start().catch(() => {}); // the supervisor logs it and tries again
  try {
    const { url } = await gateway.start();
    gateway.resolved = withPort(resolved, url);
    return {
      url,
      brokerInfo,
      broker: prepared.broker,
      gateway,
      subservers,
      onFatal: (listener) => void fatal.promise.then(listener),
    };
  } catch (thrown) {
    for (const role of [gateway, ...subservers]) role.giveUp();
    throw thrown;
  }
}

/** The port the gateway got stays its port when it is started again. */
function withPort(resolved: ResolvedConfig, url: string): ResolvedConfig {
  const port = Number(new URL(url).port || 80);
  return { ...resolved, config: { ...resolved.config, port } };
}

/**
 * Starts a deployment in processes of its own. Resolves once the HTTP port is bound; models load meanwhile.
 * @throws TokenrailError `port_unavailable`, `config_invalid`, `checkpoint_invalid`, `bus_unavailable`
 */
export async function launchProcesses(deps: LaunchDeps): Promise<Launched> {
  // First of all and before any code of weight is loaded: a busy port shows at once.
  await requireFreePort(deps.resolved.config.host, deps.resolved.config.port);
  const prepared = new Prepared(deps.resolved);
  try {
    const { checkDeployment } = await import('../start-up-checks.ts');
    const { maskIdsFrom } = await checkDeployment(deps.resolved);
    return new ProcessFleet(await startParts(prepared, deps, maskIdsFrom), deps);
  } catch (thrown) {
    await prepared.stop();
    throw toTokenrailError(thrown);
  }
}
