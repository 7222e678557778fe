import { onNpmGone } from './npm-parent.ts';

/** Something that ends in good order or at once. */
export interface Endable {
  drain(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

const LIMIT_MS = 4000;

/**
 * The first SIGTERM or SIGINT drains, the second one stops at once. Returns the way to stop listening.
 * `onSignal` hears of each signal, for a line on the terminal.
 */
export function endOnSignals(
  target: Endable,
  timeoutMs: number,
  onSignal: (signal: NodeJS.Signals, isSecond: boolean) => void,
): () => void {
  let numSignals = 0;
  const listener = (signal: NodeJS.Signals): void => {
    numSignals += 1;
    if (numSignals > 2) return;
    onSignal(signal, numSignals === 2);
    // "At once" holds even if something hangs; children end when they lose this process.
    if (numSignals === 2) setTimeout(() => process.exit(0), LIMIT_MS).unref();
    const ending = numSignals === 1 ? target.drain(timeoutMs) : target.stop();
    ending.catch((error: unknown) => process.stderr.write(`tokenrail: ${String(error)}\n`));
  };
  process.on('SIGTERM', listener);
  process.on('SIGINT', listener);
  const stopWatching = onNpmGone(() => listener('SIGTERM'));
  return () => {
    stopWatching();
    process.off('SIGTERM', listener);
    process.off('SIGINT', listener);
  };
}
