import { afterEach, beforeEach } from 'vitest';
import { BrokerServer } from '../../../transport/embedded-broker/server.ts';
import type { BrokerSettings } from '../../../transport/embedded-broker/settings.ts';
import { RawNatsClient } from '../../helpers/raw-nats-client.ts';

export const CONNECT = 'CONNECT {"verbose":false,"headers":true,"no_responders":true}\r\n';

let server: BrokerServer;
let clients: RawNatsClient[] = [];

/** The broker of the running test. */
export const broker = (): BrokerServer => server;

/** Replaces the broker by one with other settings. */
export async function restart(
  settings: Partial<BrokerSettings> = {},
  pick?: (count: number) => number,
): Promise<void> {
  await server.stop();
  server = new BrokerServer(settings, pick);
  await server.listen('127.0.0.1', 0);
}

/** A raw client that has read INFO and sent `greeting`; closed after the test. */
export async function open(greeting = CONNECT): Promise<RawNatsClient> {
  const client = await RawNatsClient.open(server.port);
  clients.push(client);
  client.take();
  client.send(greeting);
  return client;
}

/** A fresh broker on the test's own loop for each test of the file. */
export function useFreshBroker(): void {
  beforeEach(async () => {
    server = new BrokerServer();
    await server.listen('127.0.0.1', 0);
  });
  afterEach(async () => {
    for (const client of clients) client.close();
    clients = [];
    await server.stop();
  });
}
