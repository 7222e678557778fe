const POLL_MS = 500;

/**
 * `npm start` runs a script below a shell, as `npx` does, and passes SIGTERM to that shell only, which ends and leaves the
 * script behind. So a script of npm takes the loss of its parent for the signal. Returns the way to stop.
 * `exec` in package.json would let npm wait for the script, but then a Ctrl-C comes twice, from the terminal and from
 * npm, and the second signal stops at once.
 */
export function onNpmGone(
  callback: () => void,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): () => void {
  if (environment['npm_lifecycle_event'] === undefined || process.platform === 'win32') return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
