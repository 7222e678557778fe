import { toTokenrailError } from '../../core/errors.ts';
import type { BrokerInfo } from '../roles/broker.ts';
import { requireFreePort } from '../ports.ts';
import type { SubserverInfo } from '../roles/subserver.ts';
import { deferred } from './deferred.ts';
import { startParts } from './fleet-parts.ts';
import type { FleetParts, LaunchDeps } from './fleet-parts.ts';
import type { Launched } from './launched.ts';
import { Prepared } from './prepared.ts';
import { waitUntilReady } from './readiness.ts';

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
    this.ready = this.waitUntilReady();
  }

  subservers(): readonly SubserverInfo[] {
    return this.parts.subservers.flatMap(({ role: { info } }) => (info === undefined ? [] : [info]));
  }

  async drain(timeoutMs: number): Promise<void> {
    const { gateway, subservers, broker } = this.parts;
    const startedMs = this.deps.clock.nowMs();
    this.beginEnd();
    await gateway.drain(timeoutMs);
    const leftMs = Math.max(LEAST_DRAIN_MS, timeoutMs - (this.deps.clock.nowMs() - startedMs));
    await Promise.all(subservers.map(({ role }) => role.drain(leftMs)));
    await broker?.stop();
    this.end.resolve(undefined);
  }

  async stop(): Promise<void> {
    const { gateway, subservers, broker } = this.parts;
    this.beginEnd();
    await Promise.all([gateway, ...subservers.map(({ role }) => role)].map((role) => role.stop()));
    await broker?.stop();
    this.end.resolve(undefined);
  }

  /** A replica's heartbeat may reach the gateway before its description reaches this process: wait for both. */
  private async waitUntilReady(): Promise<boolean> {
    const { signal } = this.ending;
    const { resolved, logger } = this.deps;
    const onWaiting = (body: string): void =>
      logger.warn({ readiness: body }, 'still waiting for the models');
    if (!(await waitUntilReady(this.url, { signal, onWaiting }))) return false;
    const described = resolved.models.map(({ name }) => {
      const replicas = this.parts.subservers.filter(({ modelName }) => modelName === name);
      return Promise.any(replicas.map(({ role }) => role.firstReady));
    });
    const isDescribed = Promise.all(described).then(() => true);
    return Promise.race([isDescribed, this.ended.then(() => false)]);
  }

  private beginEnd(): void {
    this.ending.abort();
    this.parts.gateway.giveUp();
    for (const { role } of this.parts.subservers) role.giveUp();
  }

  private async fail(error: Error): Promise<void> {
    if (this.ending.signal.aborted) return;
    this.deps.logger.error({}, error.message);
    this.end.resolve(error);
    await this.stop();
  }
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
