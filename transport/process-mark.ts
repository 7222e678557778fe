import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/** A process as others of the same system tell it from all that had or will have its number. */
export interface ProcessMark {
  /** Where the number means something: a hash of the system's run and the namespaces, or `local`. */
  place: string;
  pid: number;
  /** In clock ticks since the system's start; 0 where that cannot be read. */
  startedTicks: number;
}

/** Fields of /proc/PID/stat after the name, which may hold blanks and brackets itself. */
const STATE = 0;
const STARTED_TICKS = 19;

const PLACE_CHARS = 8;

const PLACE_UNKNOWN = 'unknown';

function readStat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** Empty where the system has no such file. */
function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** A container that shares a folder with others sees no process of theirs: their numbers say nothing here. */
function placeOfThisProcess(): string {
  if (process.platform !== 'linux') return 'local';
  const boot = textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1'));
  const pids = textOf(() => readlinkSync('/proc/self/ns/pid'));
  if (boot === '' || pids === '') return PLACE_UNKNOWN;
  // Older kernels have one time for all.
  const time = textOf(() => readlinkSync('/proc/self/ns/time'));
  return createHash('sha256').update([boot, pids, time].join()).digest('hex').slice(0, PLACE_CHARS);
}

/** The mark of this process. */
export function processMark(): ProcessMark {
  const startedTicks = Number(readStat(process.pid)?.[STARTED_TICKS] ?? 0);
  return { place: placeOfThisProcess(), pid: process.pid, startedTicks };
}

/** Whether the process has surely ended. False where it runs and where that cannot be known from here. */
export function isGone({ place, pid, startedTicks }: ProcessMark): boolean {
  if (place === PLACE_UNKNOWN || place !== placeOfThisProcess()) return false;
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const stat = readStat(pid);
  if (stat === undefined) return false;
  // Ended, but its parent has not asked how.
  if (stat[STATE] === 'Z') return true;
  return startedTicks !== 0 && Number(stat[STARTED_TICKS]) !== startedTicks;
}
