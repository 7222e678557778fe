import { randomUUID } from 'node:crypto';
import { createServer, isIPv6, type AddressInfo, type Server, type Socket } from 'node:net';
import { TokenrailError } from '../../core/errors.ts';
import { BrokerClient, type ClientHost } from './client.ts';
import { areRequired } from './credentials.ts';
import { Dispatcher, type PickMember } from './dispatcher.ts';
import { EMBEDDED_BROKER_NAME, PROTOCOL_LEVEL_VERSION, type ProtocolErrorText } from './protocol.ts';
import { pickAtRandom, withDefaults, type BrokerSettings } from './settings.ts';

/**
 * A core NATS server: publish/subscribe with wildcards and queue groups, headers, no-responders, at most once.
 * It speaks the client protocol of NATS 2.9 to unmodified clients. JetStream, TLS, accounts and clusters are
 * not offered. A blocked loop stops everyone, so products run it in a thread of its own (`startEmbeddedBroker`).
 */
export class BrokerServer implements ClientHost {
  readonly settings: BrokerSettings;
  readonly dispatcher: Dispatcher;
  private readonly clients = new Set<BrokerClient>();
  private readonly serverId = randomUUID();
  private readonly server: Server;
  private readonly cuts = new Map<ProtocolErrorText, number>();
  private keepAlive: NodeJS.Timeout | undefined;
  private connectionsSoFar = 0;
  private address = { host: '', port: 0 };

  constructor(settings: Partial<BrokerSettings> = {}, pick: PickMember = pickAtRandom) {
    this.settings = withDefaults(settings);
    this.dispatcher = new Dispatcher(pick);
    this.server = createServer((socket) => this.accept(socket));
  }

  /** The bound port. */
  get port(): number {
    return this.address.port;
  }

  /** `nats://host:port`. */
  get url(): string {
    const { host, port } = this.address;
    return `nats://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  }

  /** Numbers of now: open connections, subscriptions, and connections ended by the broker by reason. */
  stats(): { clients: number; subscriptions: number; cuts: Readonly<Record<string, number>> } {
    const cuts = Object.fromEntries(this.cuts);
    return { clients: this.clients.size, subscriptions: this.dispatcher.subscriptions.size, cuts };
  }

  /**
   * Binds and serves.
   * @throws TokenrailError `port_unavailable`
   */
  listen(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const onError = (cause: Error): void => {
        reject(
          new TokenrailError('port_unavailable', `cannot listen on ${host}:${port}: ${cause.message}`, {
            cause,
          }),
        );
      };
      this.server.once('error', onError);
      this.server.listen(port, host, () => {
        this.server.off('error', onError);
        // Errors of accept (no file handles left): the next connection is tried anew.
        this.server.on('error', () => {});
        this.address = { host, port: (this.server.address() as AddressInfo).port };
        this.keepAlive = setInterval(() => this.checkAll(), this.settings.pingIntervalMs);
        resolve();
      });
    });
  }

  /** Cuts every connection and frees the port. Idempotent. */
  stop(): Promise<void> {
    clearInterval(this.keepAlive);
    for (const client of [...this.clients]) client.cut();
    return new Promise((resolve) => {
      if (this.server.listening) this.server.close(() => resolve());
      else resolve();
    });
  }

  onClientGone(client: BrokerClient, why?: ProtocolErrorText): void {
    this.clients.delete(client);
    if (why !== undefined) this.cuts.set(why, (this.cuts.get(why) ?? 0) + 1);
  }

  private checkAll(): void {
    for (const client of [...this.clients]) client.checkAlive();
  }

  private accept(socket: Socket): void {
    this.connectionsSoFar += 1;
    const client = new BrokerClient(this, socket, this.info(this.connectionsSoFar));
    this.clients.add(client);
    if (this.clients.size > this.settings.maxConnections) client.refuse('maximum connections exceeded');
  }

  private info(clientId: number): string {
    return JSON.stringify({
      server_id: this.serverId,
      server_name: EMBEDDED_BROKER_NAME,
      version: PROTOCOL_LEVEL_VERSION,
      proto: 1,
      host: this.address.host,
      port: this.address.port,
      headers: true,
      jetstream: false,
      auth_required: areRequired(this.settings.credentials),
      max_payload: this.settings.maxPayloadBytes,
      client_id: clientId,
    });
  }
}
