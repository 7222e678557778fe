import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { waitUntilReady } from '../../../deploy/launch/readiness.ts';

test('an aborted wait ends at once, although the gateway never answers the question that is out', async () => {
  const asked = new Promise<string>((resolve) => {
    const server = createServer((socket) => socket.once('data', () => resolve(url)));
    server.listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      started();
    });
    onTestFinished(() => void server.close());
  });
  let url = '';
  let started = (): void => {};
  await new Promise<void>((resolve) => (started = resolve));
  const ending = new AbortController();
  const waiting = waitUntilReady(url, { signal: ending.signal });
  await asked;
  const startedMs = performance.now();
  ending.abort();
  expect(await waiting).toBe(false);
  expect(performance.now() - startedMs).toBeLessThan(1000); // the question itself would time out after 2 s
});
