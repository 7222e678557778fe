import { describe, expect, it } from 'vitest';
import { Heartbeats } from '../../../actors/subserver/heartbeats.ts';
import { Sweeper } from '../../../actors/subserver/sweeper.ts';
import type { Heartbeat } from '../../../transport/messages.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

describe('heartbeats', () => {
  it('beat at once, then at every interval, out of turn when asked, and never after stop', () => {
    const clock = new ManualClock();
    const beats: number[] = [];
    const beat = (): Heartbeat => ({ kind: 'heartbeat', running: clock.nowMs() }) as unknown as Heartbeat;
    const heartbeats = new Heartbeats(clock, 500, beat, ({ running }) => beats.push(running - 1000));
    heartbeats.start();
    clock.advance(1100);
    heartbeats.now();
    clock.advance(500);
    expect(beats).toEqual([0, 500, 1000, 1100, 1500]);
    heartbeats.stop();
    heartbeats.stop();
    clock.advance(5000);
    expect(beats).toHaveLength(5);
    expect(clock.numPending).toBe(0);
  });
});

describe('the sweeper', () => {
  it('sweeps while there is something to watch, sleeps otherwise, and wakes again', () => {
    const clock = new ManualClock();
    const sweptAt: number[] = [];
    let numToWatch = 2;
    const sweeper = new Sweeper(clock, 100, (nowMs) => {
      sweptAt.push(nowMs - 1000);
      numToWatch -= 1;
      return numToWatch > 0;
    });
    for (let i = 0; i < 5; i += 1) sweeper.wake();
    expect(clock.numPending).toBe(1);
    clock.advance(1000);
    expect(sweptAt).toEqual([100, 200]);
    expect(clock.numPending).toBe(0);
    sweeper.wake();
    clock.advance(100);
    expect(sweptAt).toHaveLength(3);
    sweeper.wake();
    sweeper.stop();
    sweeper.wake();
    clock.advance(1000);
    expect(sweptAt).toHaveLength(3);
  });
});
