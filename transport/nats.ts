import { connect, createInbox, type ConnectionOptions, type NatsConnection } from 'nats';
import type { Clock } from '../core/clock.ts';
import { TokenrailError } from '../core/errors.ts';
import { silentLogger, type Logger } from '../core/log.ts';
import type { Bus } from './bus.ts';
import { NatsBus } from './nats-bus.ts';
import { isCredentialsRefused, toBusError } from './nats-errors.ts';
import { probeNatsServer } from './nats-probe.ts';
import { parseServerAddress, printableAddress, type ServerAddress } from './server-address.ts';

/** How to reach the broker. Times are in milliseconds. */
export interface NatsOptions {
  /** One or more of `nats://host:port`; the URL may carry `user:pass@` or `token@`. */
  servers: string | readonly string[];
  /** Name of this client in the server's monitoring. */
  name: string;
  token?: string;
  user?: string;
  pass?: string;
  clock: Clock;
  logger?: Logger;
  /** How long the first connection may take, attempts repeated; default 5000. */
  connectTimeoutMs?: number;
  /** Wait between attempts to reconnect; default 50. After a while without a server it grows, to 1000 at most. */
  reconnectTimeWaitMs?: number;
  /** A PING is sent this often; after two without an answer the connection counts as lost. Default 5000. */
  pingIntervalMs?: number;
  /** How long `close` may take to flush; default 2000. */
  closeTimeoutMs?: number;
  /** Subject below which answers to requests arrive, of this client alone; default `_INBOX.<random>`. */
  inboxPrefix?: string;
}

/** Longest wait between attempts, in milliseconds, and the share of the outage so far that a wait may take. */
const MAX_RECONNECT_WAIT_MS = 1000;
const WAIT_PER_OUTAGE = 0.05;

/** Longest single attempt to connect, in milliseconds. */
const ATTEMPT_MS = 2000;

function addressesOf(servers: string | readonly string[]): ServerAddress[] {
  return [servers].flat().map((url) => {
    const address = parseServerAddress(url);
    if (address === undefined)
      throw new TokenrailError('config_invalid', 'a NATS server must be given as nats://host:port');
    return address;
  });
}

/** Tells how long to wait between attempts, by how long the connection has been lost. */
class ReconnectPace {
  private lostAtMs: number | undefined;
  private readonly clock: Clock;
  private readonly shortestMs: number;

  constructor(clock: Clock, shortestMs: number) {
    this.clock = clock;
    this.shortestMs = shortestMs;
  }

  setConnected(isConnected: boolean): void {
    this.lostAtMs = isConnected ? undefined : this.clock.nowMs();
  }

  waitMs(): number {
    const outageMs = this.lostAtMs === undefined ? 0 : this.clock.nowMs() - this.lostAtMs;
    return Math.max(this.shortestMs, Math.min(MAX_RECONNECT_WAIT_MS, outageMs * WAIT_PER_OUTAGE));
  }
}

/** Options of the client that the traps found in it demand (docs/protocol.md, "The bus"). */
function clientOptions(
  options: NatsOptions,
  addresses: readonly ServerAddress[],
  pace: ReconnectPace,
): ConnectionOptions {
  const fromUrl = addresses.find((address) => address.token !== undefined || address.user !== undefined);
  const { token = fromUrl?.token, user = fromUrl?.user, pass = fromUrl?.pass } = options;
  return {
    servers: addresses.map(printableAddress),
    name: options.name,
    ...(token === undefined ? {} : { token }),
    ...(user === undefined ? {} : { user, pass: pass ?? '' }),
    maxReconnectAttempts: -1,
    // Credentials may be wrong for a moment only, while a server's configuration is replaced.
    ignoreAuthErrorAbort: true,
    reconnectDelayHandler: () => pace.waitMs(),
    pingInterval: options.pingIntervalMs ?? 5000,
    maxPingOut: 2,
    noAsyncTraces: true,
    // Also of every later attempt, so not what is left of the time for the first connection.
    timeout: ATTEMPT_MS,
    // The system's resolver, which knows /etc/hosts, instead of the client's own DNS queries.
    resolve: false,
  };
}

/** One attempt: looks whether NATS is spoken there at all, then connects. */
async function attempt(
  options: ConnectionOptions,
  addresses: readonly ServerAddress[],
  timeoutMs: number,
  clock: Clock,
): Promise<NatsConnection> {
  const reasons = await Promise.all(addresses.map((address) => probeNatsServer(address, timeoutMs, clock)));
  if (reasons.every((reason) => reason !== undefined))
    throw new TokenrailError('bus_unavailable', reasons.join('; '));
  return connect(options);
}

const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimer(ms, resolve));

async function connectWithin(
  options: NatsOptions,
  client: ConnectionOptions,
  addresses: readonly ServerAddress[],
): Promise<NatsConnection> {
  const { clock, connectTimeoutMs = 5000, reconnectTimeWaitMs = 50 } = options;
  const deadlineMs = clock.nowMs() + connectTimeoutMs;
  const leftMs = (): number => Math.max(0, deadlineMs - clock.nowMs());
  for (;;) {
    try {
      return await attempt(
        client,
        addresses,
        Math.min(ATTEMPT_MS, Math.max(leftMs(), reconnectTimeWaitMs)),
        clock,
      );
    } catch (thrown) {
      const where = addresses.map(printableAddress).join(', ');
      if (isCredentialsRefused(thrown)) {
        throw new TokenrailError('bus_unavailable', `${where} refuses the credentials`, { cause: thrown });
      }
      if (leftMs() <= reconnectTimeWaitMs) throw toBusError(thrown, `no connection to ${where}`);
    }
    await pause(clock, reconnectTimeWaitMs);
  }
}

/**
 * Connects to a NATS server (or the embedded broker). Later outages are bridged by reconnecting for ever;
 * subscriptions come back by themselves, messages published meanwhile are counted and lost.
 * @throws TokenrailError `bus_unavailable` when no server takes us within `connectTimeoutMs`, `config_invalid`
 */
export async function connectNats(options: NatsOptions): Promise<Bus> {
  const { clock, logger = silentLogger } = options;
  const addresses = addressesOf(options.servers);
  const pace = new ReconnectPace(clock, options.reconnectTimeWaitMs ?? 50);
  const connection = await connectWithin(options, clientOptions(options, addresses, pace), addresses);
  return new NatsBus({
    connection,
    clock,
    logger,
    inboxPrefix: options.inboxPrefix ?? createInbox(),
    closeTimeoutMs: options.closeTimeoutMs ?? 2000,
    onStatusChange: (status) => pace.setConnected(status === 'connected'),
  });
}
