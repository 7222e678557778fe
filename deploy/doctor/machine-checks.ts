import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, freemem, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { formatBytes } from '../cli/format.ts';
import { requireFreePort } from '../ports.ts';
import { ok, warn } from './check.ts';
import type { Check } from './check.ts';

const LEAST_FREE_BYTES = 500e6;

export const nodeCheck: Check = {
  name: 'Node.js',
  fix: 'install Node.js 20 or newer',
  run: () => {
    const [major = 0] = process.versions.node.split('.').map(Number);
    if (major < 20) throw new Error(`version ${process.versions.node} is too old`);
    return ok(`${process.versions.node} on ${process.platform} ${process.arch}`);
  },
};

export const machineCheck: Check = {
  name: 'cores and memory',
  fix: '',
  run: () => {
    const numCores = availableParallelism();
    const found = `${numCores} cores, ${formatBytes(freemem())} of ${formatBytes(totalmem())} memory free`;
    if (freemem() < LEAST_FREE_BYTES) return warn(found, 'close other programs, or choose smaller models');
    if (numCores < 2) return warn(found, 'models take turns on one core; more cores make it faster');
    return ok(found);
  },
};

export const temporaryFolderCheck: Check = {
  name: 'temporary folder',
  fix: 'make it writable, or set TMPDIR to a folder that is',
  run: () => {
    const folder = mkdtempSync(join(tmpdir(), 'tokenrail-doctor-'));
    writeFileSync(join(folder, 'probe'), 'x');
    rmSync(folder, { recursive: true });
    return ok(`${tmpdir()} is writable`);
  },
};

/** Whether what holds the port is one of ours. */
async function isTokenrail(host: string, port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://${host}:${port}/health/ready`, {
      signal: AbortSignal.timeout(1000),
    });
    return (await response.text()).includes('"gateway"');
  } catch {
    return false;
  }
}

export const portCheck: Check = {
  name: 'HTTP port',
  fix: 'end the program that holds it, or choose another with --port',
  run: async ({ config: { host, port } }) => {
    try {
      await requireFreePort(host, port);
    } catch (thrown) {
      if (!(await isTokenrail(host, port))) throw thrown;
      return warn(
        `a tokenrail server holds ${host}:${port} already`,
        'use it, or choose another port with --port',
      );
    }
    return ok(port === 0 ? 'any free one' : `${host}:${port} is free`);
  },
};
