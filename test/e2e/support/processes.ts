import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

export interface ProcessInfo {
  pid: number;
  parent: number;
  command: string;
}

function listProcesses(): ProcessInfo[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line);
    if (match === null || match[3]?.startsWith('Z') === true) return [];
    return [{ pid: Number(match[1]), parent: Number(match[2]), command: match[4] ?? '' }];
  });
}

/** All processes below one, whatever their depth. */
export function descendants(pid: number): ProcessInfo[] {
  const all = listProcesses();
  const found: ProcessInfo[] = [];
  for (let parents = [pid]; parents.length > 0;) {
    const children = all.filter(
      ({ parent, command }) => parents.includes(parent) && !command.startsWith('ps -A'),
    );
    found.push(...children);
    parents = children.map((child) => child.pid);
  }
  return found;
}

export const isAlive = (pid: number): boolean => listProcesses().some((process) => process.pid === pid);

/** Polls until `probe` gives something; the test's own time limit ends it. */
export async function eventually<T>(probe: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await probe();
    if (value !== undefined) return value;
    await sleep(50);
  }
}

export async function untilGone(pids: readonly number[]): Promise<void> {
  await eventually(() => (pids.some(isAlive) ? undefined : true));
}
