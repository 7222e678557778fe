import { resolveBroker } from '../../transport/broker.ts';
import type { ResolvedConfig } from '../config/deployment.ts';
import type { RunningRole } from './role.ts';

/** What people and processes need to know about the broker in use. */
export interface BrokerInfo {
  url: string;
  kind: 'given' | 'nats-server' | 'embedded';
  /** A line for people. */
  description: string;
  /** What it does not do; empty for a full server. */
  limits: readonly string[];
}

/** Uses the given broker, else starts a nats-server from the PATH, else the embedded one. */
export async function startBrokerRole(resolved: ResolvedConfig): Promise<RunningRole<BrokerInfo>> {
  const { nats, natsToken } = resolved.config;
  const broker = await resolveBroker({
    ...(nats === undefined ? {} : { url: nats }),
    ...(natsToken === undefined ? {} : { token: natsToken }),
  });
  const { url, kind, description, limits } = broker;
  return { info: { url, kind, description, limits }, drain: () => broker.stop(), stop: () => broker.stop() };
}
