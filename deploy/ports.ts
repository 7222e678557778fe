import { createServer } from 'node:net';
import { TokenrailError } from '../core/errors.ts';

const reasons: Record<string, string> = {
  EADDRINUSE: 'the address is already in use',
  EACCES: 'this user may not bind it',
  EADDRNOTAVAIL: 'no interface has this address',
  ENOTFOUND: 'the host name does not resolve',
};

/**
 * Binds and releases a port, so that a busy one is reported before anything heavy starts.
 * @throws TokenrailError `port_unavailable` naming host and port
 */
export async function requireFreePort(host: string, port: number): Promise<void> {
  if (port === 0) return;
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = reasons[error.code ?? ''] ?? error.message;
      reject(
        new TokenrailError('port_unavailable', `cannot bind ${host}:${port}: ${reason}`, { cause: error }),
      );
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}
