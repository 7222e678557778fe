import type { Router } from './router.ts';

const REPEAT_MS = 60_000;
const CROWDED_MS = 1_000;
const MAX_MESSAGES = 16;

interface Notices {
  /** When each message was last worth a line, the oldest first. */
  readonly saidMs: Map<string, number>;
  lastMs: number;
}

// A router is made once per process and model, so what is remembered of it ends with it.
const noticesOf = new WeakMap<Router, Notices>();

/**
 * Whether a failure of `router` is worth a line in the log: a message that is new, or was last written a minute
 * ago. A router whose every message differs gets 16 lines and from then on one a second.
 */
export function isWorthNoting(router: Router, message: string, nowMs: number): boolean {
  let notices = noticesOf.get(router);
  if (!notices) noticesOf.set(router, (notices = { saidMs: new Map(), lastMs: -Infinity }));
  const { saidMs } = notices;
  const saidBeforeMs = saidMs.get(message);
  if (saidBeforeMs !== undefined && nowMs - saidBeforeMs < REPEAT_MS) return false;
  const isFull = saidBeforeMs === undefined && saidMs.size >= MAX_MESSAGES;
  if (isFull && nowMs - notices.lastMs < CROWDED_MS) return false;
  const [oldest] = saidMs.keys();
  if (isFull && oldest !== undefined) saidMs.delete(oldest);
  saidMs.delete(message);
  saidMs.set(message, nowMs);
  notices.lastMs = nowMs;
  return true;
}
