import type { Clock } from '../../core/clock.ts';
import { TokenrailError } from '../../core/errors.ts';
import type { RequestService } from './request-service.ts';

/** Waits until every request has ended, for `timeoutMs` at most; what is left then ends with an error. */
export async function finishRequests(
  service: RequestService,
  clock: Clock,
  timeoutMs: number,
): Promise<void> {
  const timeUp = new Promise<void>((resolve) => {
    const timer = clock.setTimer(timeoutMs, resolve);
    void service.whenIdle().then(() => {
      timer.cancel();
      resolve();
    });
  });
  await timeUp;
  if (service.numActive === 0) return;
  service.cancelAll(
    new TokenrailError('shutting_down', 'The server shut down before the answer was complete.'),
  );
}
