import { toTokenrailError } from '../../core/errors.ts';
import { requireFreePort } from '../ports.ts';
import { startBrokerRole } from '../roles/broker.ts';
import { startGatewayRole } from '../roles/gateway.ts';
import type { RoleContext, RunningRole } from '../roles/role.ts';
import { startSubserverRole } from '../roles/subserver.ts';
import type { SubserverInfo } from '../roles/subserver.ts';
import { checkDeployment } from '../start-up-checks.ts';
import { deferred } from './deferred.ts';
import type { Launched } from './launched.ts';
import type { LaunchDeps } from './fleet-parts.ts';
import { waitUntilReady } from './readiness.ts';

type Ender = Pick<RunningRole<unknown>, 'drain' | 'stop'>;

/** Starts in order, remembers what runs, and ends it in the opposite order if one of them fails. */
class Started {
  private readonly roles: Ender[] = [];

  async add<R extends Ender>(starting: Promise<R>): Promise<R> {
    const role = await starting;
    this.roles.push(role);
    return role;
  }

  async stop(): Promise<void> {
    for (const role of this.roles.splice(0).reverse()) await role.stop();
  }

  /** The gateway started last, the broker first. */
  async drain(timeoutMs: number): Promise<void> {
    for (const role of [...this.roles].reverse()) await role.drain(timeoutMs);
    this.roles.length = 0;
  }
}

/**
 * Starts a deployment inside this process: for debugging, with one stack and one debugger. Nothing is
 * isolated and nothing is started again. `logger` bears no name yet: each role adds its own.
 * @throws TokenrailError as {@link launchProcesses}, and whatever a model's loading throws
 */
export async function launchInline({ resolved, clock, logger }: LaunchDeps): Promise<Launched> {
  const { config, models } = resolved;
  await requireFreePort(config.host, config.port);
  const { maskIdsFrom } = await checkDeployment(resolved);
  const started = new Started();
  // Nothing is started again here; the clients' own errors follow.
  const onFailure = (error: Error): void => logger.child({ name: 'serve' }).error({}, error.message);
  try {
    const broker = await started.add(
      startBrokerRole({ resolved, clock, logger: logger.child({ name: 'broker' }), onFailure }),
    );
    const context: RoleContext = {
      resolved,
      natsUrl: broker.info.url,
      natsToken: config.natsToken,
      clock,
      logger,
    };
    const subservers: SubserverInfo[] = [];
    for (const { name, numReplicas } of models) {
      for (let i = 0; i < numReplicas; i += 1) {
        const child = { ...context, logger: logger.child({ name }), modelName: name, maskIdsFrom };
        subservers.push((await started.add(startSubserverRole(child))).info);
      }
    }
    const gateway = await started.add(
      startGatewayRole({ ...context, logger: logger.child({ name: 'gateway' }) }),
    );
    return inlineLaunched(gateway.info.url, broker.info, subservers, started);
  } catch (thrown) {
    await started.stop();
    throw toTokenrailError(thrown);
  }
}

function inlineLaunched(
  url: string,
  broker: Launched['broker'],
  subservers: readonly SubserverInfo[],
  started: Started,
): Launched {
  const end = deferred<Error | undefined>();
  const ending = new AbortController();
  const finish = async (work: Promise<void>): Promise<void> => {
    ending.abort();
    await work;
    end.resolve(undefined);
  };
  return {
    url,
    broker,
    subservers: () => subservers,
    ready: waitUntilReady(url, { signal: ending.signal }),
    ended: end.promise,
    drain: (timeoutMs) => finish(started.drain(timeoutMs)),
    stop: () => finish(started.stop()),
  };
}
