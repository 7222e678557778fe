import { Worker } from 'node:worker_threads';
import type { ResolvedOptions } from './options.ts';
import type { FromWorker, ToWorker } from './protocol.ts';

/** What the engine needs of its worker thread; tests bring their own. */
export interface EngineWorker {
  post(message: ToWorker): void;
  onMessage(listener: (message: FromWorker) => void): void;
  /** Called once, when the thread has ended; with the error where it threw. */
  onEnd(listener: (error: Error | undefined) => void): void;
}

/** Starts the worker thread, from the sources or from the compiled files, whichever runs. */
export function startEngineWorker(options: ResolvedOptions): EngineWorker {
  const isSource = import.meta.url.endsWith('.ts');
  const url = new URL(isSource ? './worker-bootstrap.mjs' : './worker.js', import.meta.url);
  // Loaders of this process (a test runner's, tsx's own) are not for the thread: it registers what it needs.
  const worker = new Worker(url, { workerData: options, execArgv: [], name: `engine-${options.modelId}` });
  let thrown: Error | undefined;
  worker.on('error', (error) => (thrown = error));
  return {
    post: (message) => worker.postMessage(message),
    onMessage: (listener) => worker.on('message', listener),
    onEnd: (listener) => worker.on('exit', () => listener(thrown)),
  };
}
