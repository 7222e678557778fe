import { parentPort, workerData } from 'node:worker_threads';
import { toTokenrailError } from '../../core/errors.ts';
import { BrokerServer } from './server.ts';
import type { ThreadInput, ThreadReport } from './thread.ts';

const { host, port, settings } = workerData as ThreadInput;
const broker = new BrokerServer(settings);

const report = (message: ThreadReport): void => parentPort?.postMessage(message);

try {
  await broker.listen(host, port);
  // The only message that comes is "stop". In a worker, exit ends the thread, not the process.
  parentPort?.once('message', () => void broker.stop().then(() => process.exit(0)));
  report({ kind: 'listening', url: broker.url, port: broker.port });
} catch (thrown) {
  const { code, message } = toTokenrailError(thrown);
  report({ kind: 'failed', code, message });
}
