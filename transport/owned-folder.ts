import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isGone, processMark } from './process-mark.ts';

/** At most this many folders are removed at a time: a start must not wait for years of leftovers. */
const MAX_REMOVED = 32;

/** The owner is in the name and not in a file, which would come a moment after its folder. */
const OWNER = /^([0-9a-z]+)-(\d+)-(\d+)-\w{6}$/;

const prefixOf = (kind: string): string => `tokenrail-${kind}-`;

/** Of a folder that another user made, or a link to one, the name proves nothing. */
function isOurFolder(path: string): boolean {
  const facts = lstatSync(path);
  return facts.isDirectory() && facts.uid === (process.getuid?.() ?? facts.uid);
}

function hasGoneOwner(name: string, kind: string): boolean {
  if (!name.startsWith(prefixOf(kind))) return false;
  const [, place, pid, startedTicks] = OWNER.exec(name.slice(prefixOf(kind).length)) ?? [];
  if (place === undefined) return false;
  return isGone({ place, pid: Number(pid), startedTicks: Number(startedTicks) });
}

/** Leaves what it cannot remove: another start may be at it, or the next one has more luck. */
function removeLeftovers(kind: string, parent: string): void {
  let names: string[] = [];
  try {
    names = readdirSync(parent).filter((name) => hasGoneOwner(name, kind));
  } catch {
    return;
  }
  for (const name of names.slice(0, MAX_REMOVED)) {
    const path = join(parent, name);
    try {
      if (isOurFolder(path)) rmSync(path, { recursive: true, force: true });
    } catch {
      continue;
    }
  }
}

/**
 * Makes a private folder for this process, and removes those of the same kind whose owners ended without tidying up
 * (SIGKILL, with whoever watched over them). The caller removes the new one.
 */
export function makeOwnedFolder(kind: string, parent: string = tmpdir()): string {
  removeLeftovers(kind, parent);
  const { place, pid, startedTicks } = processMark();
  return mkdtempSync(join(parent, `${prefixOf(kind)}${place}-${pid}-${startedTicks}-`));
}
