import { randomInt } from 'node:crypto';
import type { BrokerCredentials } from './credentials.ts';
import type { PickMember } from './dispatcher.ts';
import { DEFAULT_MAX_PAYLOAD_BYTES } from './protocol.ts';

/** Everything that can be set about a broker; times in milliseconds, sizes in bytes. */
export interface BrokerSettings {
  /** Largest payload, headers included; default 1 MiB. */
  maxPayloadBytes: number;
  /** A client with more unsent bytes than this is cut; default 64 MiB. */
  maxPendingBytes: number;
  maxConnections: number;
  maxSubscriptionsPerClient: number;
  /** Every client is sent a PING this often; default 20 s. */
  pingIntervalMs: number;
  /** Unanswered PINGs after which a client counts as gone; default 2. */
  maxPingsOut: number;
  /** Time for a valid CONNECT where credentials are required; default 2 s. */
  authTimeoutMs: number;
  credentials: BrokerCredentials;
}

const DEFAULTS: BrokerSettings = {
  maxPayloadBytes: DEFAULT_MAX_PAYLOAD_BYTES,
  maxPendingBytes: 64 * 1024 * 1024,
  maxConnections: 10_000,
  maxSubscriptionsPerClient: 100_000,
  pingIntervalMs: 20_000,
  maxPingsOut: 2,
  authTimeoutMs: 2000,
  credentials: {},
};

export function withDefaults(settings: Partial<BrokerSettings>): BrokerSettings {
  return { ...DEFAULTS, ...settings };
}

/** Queue groups share out at random, without a memory of earlier picks. */
export const pickAtRandom: PickMember = (count) => randomInt(count);
