import type { Clock } from '../../core/clock.ts';
import type { TokenrailError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import { resolveBroker } from '../../transport/broker.ts';
import type { BrokerKind } from '../../transport/broker.ts';
import { requireNatsServer } from '../../transport/nats-probe.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { RunningRole } from './role.ts';

/** What people and processes need to know about the broker in use. */
export interface BrokerInfo {
  /** May carry credentials: for connecting, not for printing. */
  url: string;
  kind: BrokerKind;
  /** A line for people, with the address. */
  description: string;
  /** What it does not do; empty for a given server. */
  limits: readonly string[];
}

/** A given server that does not greet within this time is reported at once, before any model loads. */
const PROBE_TIMEOUT_MS = 1500;

export interface BrokerRoleContext {
  resolved: ResolvedConfig;
  clock: Clock;
  logger: Logger;
  /** Called when a broker that was started here ends without being asked to. */
  onFailure?: (error: TokenrailError) => void;
}

/** Uses the given broker, else starts a nats-server from the PATH, else the embedded one. */
export async function startBrokerRole(context: BrokerRoleContext): Promise<RunningRole<BrokerInfo>> {
  const { resolved, clock, logger, onFailure } = context;
  const { nats, natsToken } = resolved.config;
  if (nats !== undefined) await requireNatsServer(nats, PROBE_TIMEOUT_MS, clock);
  const broker = await resolveBroker({
    clock,
    logger,
    ...(nats === undefined ? {} : { url: nats }),
    ...(natsToken === undefined ? {} : { token: natsToken }),
    ...(onFailure === undefined ? {} : { onFailure }),
  });
  const { url, kind, description, limits } = broker;
  return { info: { url, kind, description, limits }, drain: () => broker.stop(), stop: () => broker.stop() };
}
