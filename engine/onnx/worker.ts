import { parentPort, workerData } from 'node:worker_threads';
import { toTokenrailError } from '../../core/errors.ts';
import type { ResolvedOptions } from './options.ts';
import type { FromWorker, ToWorker } from './protocol.ts';
import { WorkerCore } from './worker-core.ts';

/**
 * The engine's thread. The runtime's `run()` and session creation block the thread they are called on, so
 * both happen only here. The thread ends by itself once told to close: ending it from outside during a run
 * would abort the process.
 */
function main(): void {
  const port = parentPort;
  if (port === null) throw new Error('not a worker thread');
  const send = (message: FromWorker): void => port.postMessage(message, buffersOf(message));
  const fail = (error: unknown): void => {
    const { code, message } = toTokenrailError(error, 'engine_failed');
    send({ kind: 'failed', code, message });
    port.close();
  };
  let core: WorkerCore;
  try {
    core = new WorkerCore(workerData as ResolvedOptions);
  } catch (error) {
    fail(error);
    return;
  }
  port.on('message', (message: ToWorker) => {
    try {
      handle(core, message, send);
    } catch (error) {
      fail(error);
    }
    if (message.kind === 'close') port.close();
  });
  send({ kind: 'started', info: core.info, offered: core.offered });
}

function handle(core: WorkerCore, message: ToWorker, send: (message: FromWorker) => void): void {
  switch (message.kind) {
    case 'step':
      send({ kind: 'done', ...core.step(message.rows, message.needs) });
      return;
    case 'release':
      core.release(message.seqs);
      return;
    case 'close':
      core.close();
  }
}

/** Rows of raw logits are moved to the other thread, not copied. */
function buffersOf(message: FromWorker): ArrayBuffer[] {
  if (message.kind !== 'done') return [];
  return message.rows.flatMap((row) =>
    row.ok && row.logits !== undefined ? [row.logits.buffer as ArrayBuffer] : [],
  );
}

main();
