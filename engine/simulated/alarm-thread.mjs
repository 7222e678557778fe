// Sleeps until the instant that stands in the shared cell (nanoseconds of process.hrtime, 0 = none), then says so. Plain
// JavaScript: the thread starts from the sources and from the build alike.
import { parentPort, workerData } from 'node:worker_threads';

const cell = new BigInt64Array(workerData);

for (;;) {
  const dueNs = Atomics.load(cell, 0);
  const leftMs = dueNs === 0n ? Infinity : Number(dueNs - process.hrtime.bigint()) / 1e6;
  if (leftMs > 0) Atomics.wait(cell, 0, dueNs, leftMs);
  else if (Atomics.compareExchange(cell, 0, dueNs, 0n) === dueNs) parentPort.postMessage(0);
}
