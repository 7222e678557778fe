import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock, Timer } from '../../../core/clock.ts';

/** Time for what was written to reach its readers. */
const LAST_BYTES_MS = 1_000;
const LOOK_EVERY_MS = 10;

/**
 * Connections that have not sent a request yet. Some clients open one in advance; Node does not count it
 * among the idle ones.
 */
export function trackUnusedSockets(app: FastifyInstance): ReadonlySet<Socket> {
  const unused = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }: IncomingMessage) => unused.delete(socket));
  return unused;
}

/**
 * Closes the server. Connections whose answer is still on its way may take it first; a connection that has
 * nothing more to say is closed although its client would keep it, and a reader that does not read is cut off.
 */
export async function closeServer(
  app: FastifyInstance,
  unused: ReadonlySet<Socket>,
  clock: Clock,
): Promise<void> {
  const endMs = clock.nowMs() + LAST_BYTES_MS;
  let timer: Timer | undefined;
  const look = (): void => {
    if (clock.nowMs() < endMs) app.server.closeIdleConnections();
    else app.server.closeAllConnections();
    for (const socket of unused) socket.destroy();
    timer = clock.setTimer(LOOK_EVERY_MS, look);
  };
  look();
  await app.close();
  timer?.cancel();
}
