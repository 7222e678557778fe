import { spawn } from 'node:child_process';

/** Waits for the end of its input, which comes when our process ends in any way, then ends the other and tidies up. */
const WATCH = 'read -r _; kill -TERM "$0" 2>/dev/null; rm -rf -- "$1"';

/**
 * Lets process `pid` end, and its private `folder` go, when this process ends, even by SIGKILL, when no handler
 * of ours can run. Returns the way to call it off. Does nothing on Windows, which has no shell for it.
 */
export function endWithParent(pid: number, folder: string): () => void {
  if (process.platform === 'win32') return () => {};
  // Detached: a Ctrl-C in the terminal reaches the whole group and would end the watcher too early.
  const watcher = spawn('/bin/sh', ['-c', WATCH, String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.on('error', () => {});
  watcher.stdin?.on('error', () => {});
  watcher.unref();
  (watcher.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  return () => void watcher.kill('SIGKILL');
}
