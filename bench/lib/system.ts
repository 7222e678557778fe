import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from './free-port.ts';

const BIN = fileURLToPath(new URL('../../deploy/cli/bin.mjs', import.meta.url));

/** A running deployment: real processes, real sockets. */
export interface System {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts `tokenrail serve` with these flags on a free port and resolves when it is ready.
 * @throws Error with what the server printed, if it ends or is not ready within a minute
 */
export async function startSystem(flags: readonly string[]): Promise<System> {
  const port = await freePort();
  const args = [BIN, 'serve', '--host', '127.0.0.1', '--port', String(port), ...flags];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => printed.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => printed.push(chunk));
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  for (let attempt = 0; attempt < 600; attempt += 1) {
    if (child.exitCode !== null) break;
    const response = await fetch(`${url}/health/ready`).catch(() => undefined);
    if (response?.ok) return { url, stop };
    await sleep(100);
  }
  await stop();
  throw new Error(`the system did not become ready:\n${Buffer.concat(printed).toString()}`);
}
