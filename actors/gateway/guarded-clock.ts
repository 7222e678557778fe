import type { Clock } from '../../core/clock.ts';

/** A clock whose callbacks cannot bring the process down: what they throw goes to `onFault`. */
export function guardedClock(clock: Clock, onFault: (thrown: unknown) => void): Clock {
  const guard = (callback: () => void) => (): void => {
    try {
      callback();
    } catch (thrown) {
      onFault(thrown);
    }
  };
  return {
    nowMs: () => clock.nowMs(),
    epochMs: () => clock.epochMs(),
    setTimer: (delayMs, callback) => clock.setTimer(delayMs, guard(callback)),
    afterInstant: (callback, rank) => clock.afterInstant(guard(callback), rank),
  };
}
