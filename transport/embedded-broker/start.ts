import type { TokenrailError } from '../../core/errors.ts';
import { BrokerServer } from './server.ts';
import type { BrokerSettings } from './settings.ts';
import { startBrokerThread } from './thread.ts';

export interface EmbeddedBrokerOptions {
  /** Address to bind; default 127.0.0.1. */
  host?: string;
  /** Port to bind; default 0 = a free one. */
  port?: number;
  /** Largest payload in bytes; default 1 MiB. */
  maxPayloadBytes?: number;
  /** Where set, clients must present it. */
  token?: string;
  /** Where set (with `pass`), clients must present both. */
  user?: string;
  pass?: string;
  /** In a thread of its own (products), or on the caller's loop (tests). */
  inThread: boolean;
  /** Further settings, for tests and special needs. */
  settings?: Partial<BrokerSettings>;
  /** Called when the broker's thread ends without being asked to. */
  onFailure?: (error: TokenrailError) => void;
}

export interface EmbeddedBroker {
  /** `nats://host:port`. */
  url: string;
  port: number;
  /** Cuts all connections, frees the port, ends the thread. Idempotent. */
  stop(): Promise<void>;
}

function settingsOf({
  maxPayloadBytes,
  token,
  user,
  pass,
  settings,
}: EmbeddedBrokerOptions): Partial<BrokerSettings> {
  return {
    ...settings,
    ...(maxPayloadBytes === undefined ? {} : { maxPayloadBytes }),
    credentials: {
      ...(token === undefined ? {} : { token }),
      ...(user === undefined ? {} : { user, pass: pass ?? '' }),
    },
  };
}

/**
 * Starts the embedded broker: a core NATS server without persistence, TLS, accounts or clustering.
 * @throws TokenrailError `port_unavailable`
 */
export async function startEmbeddedBroker(options: EmbeddedBrokerOptions): Promise<EmbeddedBroker> {
  const { host = '127.0.0.1', port = 0 } = options;
  const settings = settingsOf(options);
  if (options.inThread) {
    return startBrokerThread({ host, port, settings }, options.onFailure ?? (() => {}));
  }
  const broker = new BrokerServer(settings);
  await broker.listen(host, port);
  return { url: broker.url, port: broker.port, stop: () => broker.stop() };
}
