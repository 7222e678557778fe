import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../../core/system-clock.ts';
import { startNatsServer } from '../../../transport/nats-server-process.ts';
import { makeOwnedFolder } from '../../../transport/owned-folder.ts';

const isLinux = process.platform === 'linux';
let parent: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'tokenrail-owned-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(parent, { recursive: true });
});

const CHILD = `
  const { makeOwnedFolder } = await import('./transport/owned-folder.ts');
  process.stdout.write(makeOwnedFolder('nats', process.argv[1]));`;
const ARGS = ['--import', 'tsx', '--input-type=module', '-e'];

/** The folder of a process that has ended, with something in it. */
function leftover(): string {
  const folder = execFileSync(process.execPath, [...ARGS, CHILD, parent], { encoding: 'utf8' });
  writeFileSync(join(folder, 'nats.conf'), 'port: -1');
  return folder;
}

/** The number of a process that has ended. */
const deadPid = (): number => spawnSync(process.execPath, ['-e', '']).pid;

/** The path of a folder as another process of this system would name it. */
function named(change: { place?: string; pid?: number; startedTicks?: string }, end = 'abcdef'): string {
  const own = makeOwnedFolder('sample', parent);
  rmSync(own, { recursive: true });
  const [product, kind, place, pid, startedTicks] = basename(own).split('-');
  const parts = [
    product,
    kind,
    change.place ?? place,
    change.pid ?? pid,
    change.startedTicks ?? startedTicks,
  ];
  return join(parent, [...parts, end].join('-'));
}

/** Of all that a start leaves in place, its own folder apart. */
function namesAfterStart(): string[] {
  const own = makeOwnedFolder('sample', parent);
  return readdirSync(parent).filter((name) => name !== basename(own));
}

describe('what an ended process left behind', () => {
  it('goes at the next start', () => {
    const folder = leftover();
    expect(dirname(folder)).toBe(parent);
    const own = makeOwnedFolder('nats', parent);
    expect(readdirSync(parent)).toEqual([basename(own)]);
  });

  it('goes when a nats-server is started, and so does the new folder in the end', async () => {
    expect(existsSync(leftover())).toBe(true);
    vi.stubEnv('TMPDIR', parent);
    const attempt = startNatsServer({ executable: '/bin/false', clock: new SystemClock() });
    await expect(attempt).rejects.toMatchObject({ code: 'bus_unavailable' });
    expect(readdirSync(parent)).toEqual([]);
  });

  it('stays at the start of something else', () => {
    const folder = leftover();
    expect(namesAfterStart()).toEqual([basename(folder)]);
  });

  it('goes in parts where there is much of it', () => {
    const pid = deadPid();
    const folders = Array.from({ length: 40 }, (_, i) => named({ pid }, `aaaa${10 + i}`));
    for (const folder of folders) mkdirSync(folder);
    expect(namesAfterStart()).toHaveLength(8);
  });

  it.runIf(isLinux)('goes although another process has its number by now', () => {
    mkdirSync(named({ startedTicks: '1' }));
    expect(namesAfterStart()).toEqual([]);
  });

  it.runIf(isLinux)('goes although nobody has asked how the process ended', async () => {
    // The shell becomes a process that does not care for the child that it has started.
    const zombie = spawn('/bin/sh', ['-c', 'sleep 0 & echo $!; exec sleep 1000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const pid = await new Promise<number>((resolve) =>
        zombie.stdout.once('data', (chunk) => resolve(Number(String(chunk)))),
      );
      const folder = named({ pid, startedTicks: '0' });
      mkdirSync(folder);
      await vi.waitFor(() => {
        makeOwnedFolder('sample', parent);
        expect(existsSync(folder)).toBe(false);
      }, 30_000);
      expect(() => process.kill(pid, 0)).not.toThrow();
    } finally {
      zombie.kill('SIGKILL');
    }
  });
});

describe('what stays', () => {
  it('the folder of a process that runs', async () => {
    const child = spawn(process.execPath, [...ARGS, `${CHILD} setInterval(() => {}, 1000);`, parent], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const folder = await new Promise<string>((resolve) =>
      child.stdout.once('data', (chunk) => resolve(String(chunk))),
    );
    makeOwnedFolder('nats', parent);
    expect(existsSync(folder)).toBe(true);
    child.kill('SIGKILL');
    await ended;
    makeOwnedFolder('nats', parent);
    expect(existsSync(folder)).toBe(false);
  });

  it.each([
    ['what is named by somebody else', () => join(parent, 'tokenrail-sample-qiQSNT')],
    [
      'of another container or an earlier run of the system',
      () => named({ place: 'c0ffee00', pid: deadPid() }),
    ],
    ['of nobody knows where', () => named({ place: 'unknown', pid: deadPid() })],
  ])('%s', (_what, path) => {
    const folder = path();
    mkdirSync(folder);
    expect(namesAfterStart()).toEqual([basename(folder)]);
  });

  it('what only looks like a folder of ours', () => {
    const pid = deadPid();
    mkdirSync(join(parent, 'elsewhere'));
    const [link, file] = [named({ pid }, 'a_link'), named({ pid }, 'a_file')];
    symlinkSync(join(parent, 'elsewhere'), link);
    writeFileSync(file, '');
    expect(namesAfterStart()).toHaveLength(3);
  });

  it.runIf(process.getuid?.() === 0)('what belongs to another user', () => {
    const folder = named({ pid: deadPid() });
    mkdirSync(folder);
    chownSync(folder, 65_534, 65_534);
    expect(namesAfterStart()).toEqual([basename(folder)]);
  });
});
