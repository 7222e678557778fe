import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;

/** What `/health/ready` said last. */
export interface Readiness {
  isReady: boolean;
  /** The body, for a message about what is missing. */
  body: string;
}

/** Asks a gateway once; an unreachable one is not ready. */
export async function askReadiness(url: string): Promise<Readiness> {
  try {
    const response = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(2000) });
    return { isReady: response.ok, body: await response.text() };
  } catch {
    return { isReady: false, body: '' };
  }
}

/**
 * Resolves once the gateway can answer requests. `onWaiting` is called every `reportMs` while it cannot.
 * Aborted by `signal`: resolves with false.
 */
export async function waitUntilReady(
  url: string,
  options: { signal: AbortSignal; reportMs?: number; onWaiting?: (body: string) => void },
): Promise<boolean> {
  const { signal, reportMs = 10_000, onWaiting } = options;
  let reportAtMs = performance.now() + reportMs;
  // A question to a gateway that is just ending may never be settled, and holds the process no longer either.
  const aborted = new Promise<Readiness>((resolve) => {
    signal.addEventListener('abort', () => resolve({ isReady: false, body: '' }), { once: true });
  });
  while (!signal.aborted) {
    const { isReady, body } = await Promise.race([askReadiness(url), aborted]);
    if (isReady) return true;
    if (performance.now() >= reportAtMs) {
      onWaiting?.(body);
      reportAtMs += reportMs;
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
  return false;
}
