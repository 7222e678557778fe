import type { Clock } from '../core/clock.ts';
import type { TokenrailError } from '../core/errors.ts';
import { silentLogger, type Logger } from '../core/log.ts';
import { startEmbeddedBroker } from './embedded-broker/start.ts';
import { findExecutable } from './find-executable.ts';
import { startNatsServer } from './nats-server-process.ts';
import { parseServerAddress, printableAddress } from './server-address.ts';

export type BrokerKind = 'given' | 'nats-server' | 'embedded';

export interface BrokerOptions {
  clock: Clock;
  logger?: Logger;
  /** A server that runs already. */
  url?: string;
  /** Take the embedded broker even where a nats-server is on the PATH. */
  preferEmbedded?: boolean;
  /** Clients of a broker started here must present it. A given server has credentials of its own. */
  token?: string;
  /** Largest payload of a broker started here, in bytes; default 1 MiB. */
  maxPayloadBytes?: number;
  /** Called when a broker started here ends without being asked to. */
  onFailure?: (error: TokenrailError) => void;
}

export interface ResolvedBroker {
  url: string;
  kind: BrokerKind;
  /** One line for people, without credentials. */
  description: string;
  /** What this broker does not do; empty where that is up to the given server. */
  limits: string[];
  /** Ends the broker where it was started here. Idempotent. */
  stop(): Promise<void>;
}

const EMBEDDED_LIMITS = [
  'core NATS only, at most once',
  'no JetStream',
  'no TLS',
  'no clustering',
  'no accounts',
];
const PRIVATE_SERVER_LIMITS = ['loopback only', 'no JetStream', 'no TLS', 'no clustering'];

function startOptions(
  options: BrokerOptions,
): Pick<BrokerOptions, 'token' | 'maxPayloadBytes' | 'onFailure'> {
  const { token, maxPayloadBytes, onFailure } = options;
  return {
    ...(token === undefined ? {} : { token }),
    ...(maxPayloadBytes === undefined ? {} : { maxPayloadBytes }),
    ...(onFailure === undefined ? {} : { onFailure }),
  };
}

async function startEmbedded(options: BrokerOptions): Promise<ResolvedBroker> {
  const broker = await startEmbeddedBroker({ ...startOptions(options), inThread: true });
  const { url } = broker;
  const stop = (): Promise<void> => broker.stop();
  return {
    url,
    kind: 'embedded',
    description: `embedded broker at ${url}`,
    limits: [...EMBEDDED_LIMITS],
    stop,
  };
}

async function startFromPath(executable: string, options: BrokerOptions): Promise<ResolvedBroker> {
  const server = await startNatsServer({ ...startOptions(options), executable, clock: options.clock });
  const { url } = server;
  const stop = (): Promise<void> => server.stop();
  const description = `nats-server at ${url} (${executable})`;
  return { url, kind: 'nats-server', description, limits: [...PRIVATE_SERVER_LIMITS], stop };
}

/**
 * Finds or starts the broker: the given URL, else a `nats-server` on the PATH, else the embedded one. A
 * nats-server that does not start is logged, and the embedded broker takes its place.
 * @throws TokenrailError `port_unavailable`, `internal` when even the embedded broker cannot start
 */
export async function resolveBroker(options: BrokerOptions): Promise<ResolvedBroker> {
  const { url, logger = silentLogger } = options;
  if (url !== undefined) {
    const address = parseServerAddress(url);
    const where = address === undefined ? 'the given URL' : `nats://${printableAddress(address)}`;
    return { url, kind: 'given', description: `NATS at ${where}`, limits: [], stop: () => Promise.resolve() };
  }
  const executable = options.preferEmbedded === true ? undefined : findExecutable('nats-server');
  if (executable === undefined) return startEmbedded(options);
  try {
    return await startFromPath(executable, options);
  } catch (thrown) {
    logger.warn({ err: thrown, executable }, 'nats-server does not start, taking the embedded broker');
    return startEmbedded(options);
  }
}
