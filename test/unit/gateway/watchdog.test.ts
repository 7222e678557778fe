import { describe, expect, it } from 'vitest';
import { Watchdog } from '../../../actors/gateway/watchdog.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

function makeWatchdog(): { clock: ManualClock; watchdog: Watchdog; events: string[] } {
  const clock = new ManualClock();
  const events: string[] = [];
  const at = (what: string): void => void events.push(`${what}@${clock.nowMs() - 1_000}`);
  const watchdog = new Watchdog(
    clock,
    100,
    () => at('probe'),
    () => at('silent'),
  );
  watchdog.start();
  return { clock, watchdog, events };
}

describe('Watchdog', () => {
  it('stays quiet while there are signs of life, with one timer however many', () => {
    const { clock, watchdog, events } = makeWatchdog();
    for (let i = 0; i < 50; i += 1) {
      clock.advance(99);
      watchdog.touch();
    }
    expect(events).toEqual([]);
    expect(clock.numPending).toBe(1);
  });

  it('probes three times, then reports the silence once', () => {
    const { clock, events, watchdog } = makeWatchdog();
    clock.advance(10_000);
    expect(events).toEqual(['probe@100', 'probe@200', 'probe@300', 'silent@400']);
    watchdog.close();
    expect(clock.numPending).toBe(0);
  });

  it('starts counting anew after an answer', () => {
    const { clock, watchdog, events } = makeWatchdog();
    clock.advance(250);
    watchdog.touch();
    clock.advance(140);
    expect(events).toEqual(['probe@100', 'probe@200', 'probe@350']);
  });
});
