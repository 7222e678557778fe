/** A word at least this often, so that a long run is no silent one. */
const EVERY_MS = 10_000;

/**
 * Tells of the progress of a long run, every 10 s at most; short runs stay silent.
 * @param nowMs real time, in milliseconds
 * @param write takes a line
 */
export function progressReporter(
  nowMs: () => number,
  write: (line: string) => void,
): (tokens: number) => void {
  const startedMs = nowMs();
  let lastMs = startedMs;
  return (tokens) => {
    const ms = nowMs();
    if (ms - lastMs < EVERY_MS) return;
    lastMs = ms;
    write(`simulate: ${tokens} tokens after ${Math.round((ms - startedMs) / 1000)} s\n`);
  };
}
