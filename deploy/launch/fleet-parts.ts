import type { Clock } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { BrokerInfo } from '../roles/broker.ts';
import type { GatewayInfo } from '../roles/gateway.ts';
import type { SubserverInfo } from '../roles/subserver.ts';
import { deferred } from './deferred.ts';
import { describeExit } from './forked-role.ts';
import type { RoleExit } from './forked-role.ts';
import type { Prepared } from './prepared.ts';
import { RestartingRole } from './restarting-role.ts';

/** What starts a deployment. */
export interface LaunchDeps {
  resolved: ResolvedConfig;
  clock: Clock;
  logger: Logger;
}

/** The port the gateway got stays its port when it is started again. */
function withPort(resolved: ResolvedConfig, url: string): ResolvedConfig {
  const port = Number(new URL(url).port || 80);
  return { ...resolved, config: { ...resolved.config, port } };
}

/** The processes of a deployment, all started. */
export interface FleetParts {
  url: string;
  brokerInfo: BrokerInfo;
  broker: Prepared['broker'];
  gateway: RestartingRole<GatewayInfo>;
  subservers: readonly { modelName: string; role: RestartingRole<SubserverInfo> }[];
  /** Registers who is told about what cannot be mended by a restart. */
  onFatal(listener: (error: Error) => void): void;
}

/** A wrong configuration does not get better by starting again. */
const isFatal = ({ failure }: RoleExit): boolean => failure?.code === 'config_invalid';

const givenBroker = async (deps: LaunchDeps): Promise<BrokerInfo> =>
  (await (await import('../roles/broker.ts')).startBrokerRole(deps)).info;

function makeSubservers(
  prepared: Prepared,
  deps: LaunchDeps & { natsUrl: string; maskIdsFrom: number; onFatal: (error: Error) => void },
): FleetParts['subservers'] {
  const { natsUrl, maskIdsFrom, onFatal } = deps;
  const onExit = (exit: RoleExit): void => {
    if (isFatal(exit) && exit.failure !== undefined) onFatal(exit.failure);
  };
  return prepared.subservers.map(({ modelName, name, role }) => {
    const spec = { role: 'subserver', natsUrl, modelName, maskIdsFrom } as const;
    return { modelName, role: new RestartingRole(name, spec, { ...deps, prepared: role, onExit }) };
  });
}

/**
 * Broker, then gateway and subservers. Resolves once the HTTP port is bound; models load meanwhile.
 * @throws TokenrailError what the broker or the gateway failed with
 */
export async function startParts(
  prepared: Prepared,
  deps: LaunchDeps,
  maskIdsFrom: number,
): Promise<FleetParts> {
  const { resolved } = deps;
  const fatal = deferred<Error>();
  prepared.broker?.run({ role: 'broker' }, resolved);
  const brokerInfo = await (prepared.broker?.ready ?? givenBroker(deps));
  const natsUrl = brokerInfo.url;
  void prepared.broker?.exited.then((exit) =>
    fatal.resolve(new TokenrailError('bus_unavailable', `the broker ended: ${describeExit(exit)}`)),
  );
  const subservers = makeSubservers(prepared, { ...deps, natsUrl, maskIdsFrom, onFatal: fatal.resolve });
  const gateway = new RestartingRole(
    'gateway',
    { role: 'gateway', natsUrl },
    { ...deps, prepared: prepared.gateway },
  );
  for (const { role } of subservers) role.start().catch(() => {}); // the supervisor logs it and tries again
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
    gateway.giveUp();
    for (const { role } of subservers) role.giveUp();
    throw thrown;
  }
}
