import { createConnection } from 'node:net';
import type { Clock } from '../core/clock.ts';
import { TokenrailError } from '../core/errors.ts';
import { parseServerAddress, printableAddress, type ServerAddress } from './server-address.ts';

/** Every NATS server speaks first, with this. */
const GREETING = 'INFO ';

/**
 * Asks whether a NATS server answers at `address`: undefined when it does, otherwise why not. The client
 * would wait out its timeout on a port that some other program holds, and never close that socket.
 */
export function probeNatsServer(
  address: ServerAddress,
  timeoutMs: number,
  clock: Clock,
): Promise<string | undefined> {
  const where = printableAddress(address);
  return new Promise((resolve) => {
    let heard = '';
    const socket = createConnection(address.port, address.host);
    const finish = (reason: string | undefined): void => {
      timer.cancel();
      socket.destroy();
      resolve(reason);
    };
    const timer = clock.setTimer(timeoutMs, () =>
      finish(`${where} accepts no NATS client within ${Math.round(timeoutMs)} ms`),
    );
    socket.on('error', (error: NodeJS.ErrnoException) =>
      finish(`${where} cannot be reached (${error.code ?? 'error'})`),
    );
    socket.on('close', () => finish(`${where} closed the connection without a greeting`));
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      const isGreeting = heard.slice(0, GREETING.length).toUpperCase() === GREETING.slice(0, heard.length);
      if (!isGreeting) finish(`${where} is no NATS server`);
      else if (heard.length >= GREETING.length) finish(undefined);
    });
  });
}

/**
 * Makes sure that a NATS server answers at `url` now, before anything is started that would wait for it.
 * @throws TokenrailError `bus_unavailable` saying what is there instead, `config_invalid` for no URL
 */
export async function requireNatsServer(url: string, timeoutMs: number, clock: Clock): Promise<void> {
  const address = parseServerAddress(url);
  if (address === undefined) throw new TokenrailError('config_invalid', 'nats: not the URL of a NATS server');
  const reason = await probeNatsServer(address, timeoutMs, clock);
  if (reason !== undefined) throw new TokenrailError('bus_unavailable', reason);
}
