import { Worker } from 'node:worker_threads';
import { TokenrailError, type ErrorCode } from '../../core/errors.ts';
import type { BrokerSettings } from './settings.ts';

export interface ThreadInput {
  host: string;
  port: number;
  settings: Partial<BrokerSettings>;
}

export type ThreadReport =
  { kind: 'listening'; url: string; port: number } | { kind: 'failed'; code: ErrorCode; message: string };

export interface BrokerThread {
  url: string;
  port: number;
  /** Stops the broker and resolves when the thread has ended. */
  stop(): Promise<void>;
}

/** Compiled code runs as it is; sources need the loader, which the bootstrap registers. */
function threadEntry(): URL {
  const isSource = import.meta.url.endsWith('.ts');
  return new URL(isSource ? './thread-bootstrap.mjs' : './thread-main.js', import.meta.url);
}

/**
 * Runs a broker in a worker thread of its own, so that a busy main loop delays nobody else's messages.
 * `onFailure` is called when the thread ends without being asked to.
 * @throws TokenrailError `port_unavailable`, `internal`
 */
export function startBrokerThread(
  input: ThreadInput,
  onFailure: (error: TokenrailError) => void,
): Promise<BrokerThread> {
  const worker = new Worker(threadEntry(), { workerData: input, execArgv: [], name: 'embedded-broker' });
  let isStopping = false;
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const stop = (): Promise<void> => {
    if (!isStopping) worker.postMessage('stop');
    isStopping = true;
    return ended;
  };
  return new Promise((resolve, reject) => {
    let failure: unknown;
    worker.once('error', (cause) => (failure = cause));
    worker.once('message', (report: ThreadReport) => {
      if (report.kind === 'listening') {
        resolve({ url: report.url, port: report.port, stop });
      } else {
        isStopping = true;
        reject(new TokenrailError(report.code, report.message));
      }
    });
    void ended.then(() => {
      if (isStopping) return;
      const error = new TokenrailError('internal', 'the thread of the embedded broker ended', {
        cause: failure,
      });
      reject(error);
      onFailure(error);
    });
  });
}
