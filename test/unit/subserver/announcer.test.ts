import { describe, expect, it } from 'vitest';
import { Announcer, type Announcement } from '../../../actors/subserver/announcer.ts';
import type { Beacon, LoadEstimates } from '../../../transport/messages.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

function announcer(estimates: () => LoadEstimates | undefined = () => undefined): {
  clock: ManualClock;
  announcer: Announcer;
  sent: Beacon[];
} {
  const clock = new ManualClock();
  const sent: Beacon[] = [];
  const options = { self: 2, replica: 'r1', minIntervalMs: 5, staleMs: 400 };
  return { clock, sent, announcer: new Announcer(options, clock, estimates, (beacon) => sent.push(beacon)) };
}

describe('announcements', () => {
  const news = (waiting: number, rowsRunning = 0, stepLeftMs = 0): Announcement => ({
    rowsRunning,
    stepLeftMs,
    waiting,
    aliveAtHome: 4,
  });

  it('a burst goes out at once, then one per interval, the newest last; an idle one is not repeated', () => {
    const { announcer: own, clock, sent } = announcer();
    for (let waiting = 0; waiting < 8; waiting += 1) own.announce(news(waiting));
    expect(sent.map(({ waiting }) => waiting)).toEqual([0, 1, 2, 3]);
    clock.advance(5);
    expect(sent.map(({ waiting }) => waiting)).toEqual([0, 1, 2, 3, 7]);
    clock.advance(50);
    own.announce(news(7));
    clock.advance(50);
    expect(sent).toHaveLength(5);
    expect(clock.numPending).toBe(0);
  });

  it('are bounded in the long run', () => {
    const { announcer: own, clock, sent } = announcer();
    for (let ms = 0; ms < 500; ms += 1) {
      own.announce(news(ms % 7, 1, 3));
      clock.advance(1);
    }
    expect(sent.length).toBeLessThanOrEqual(500 / 5 + 5);
    expect(sent.length).toBeGreaterThan(90);
  });

  it('carry the estimates when they move, and now and then', () => {
    let share = 0.2;
    let numOutcomes = 10;
    const current = (): LoadEstimates => ({
      routing: [1 - share, share],
      commits: [1, 0],
      curve: [[1, 6]],
      jitter: 0,
      overlapFactor: 1,
      numOutcomes,
      maxNumSeqs: 8,
    });
    const { announcer: own, clock, sent } = announcer(current);
    const say = (): boolean => {
      own.announce(news(1, 2, 3));
      return sent[sent.length - 1]?.estimates !== undefined;
    };
    expect([say(), say()]).toEqual([true, false]);
    clock.advance(10);
    expect(say()).toBe(false);
    share = 0.3;
    expect(say()).toBe(true);
    clock.advance(20);
    expect(say()).toBe(false); // nothing was measured since
    numOutcomes += 1;
    expect(say()).toBe(true);
    clock.advance(100);
    expect(say()).toBe(true);
  });

  it('are said again before they grow stale, with what is left of the step', () => {
    const { announcer: own, clock, sent } = announcer();
    own.refresh();
    expect(sent).toEqual([]);
    own.announce(news(1, 2, 150));
    clock.advance(99);
    own.refresh();
    expect(sent).toHaveLength(1);
    clock.advance(1);
    own.refresh();
    clock.advance(100);
    own.refresh();
    expect(sent.map(({ stepLeftMs }) => stepLeftMs)).toEqual([150, 50, 0]);
  });

  it('end with stop', () => {
    const { announcer: own, clock, sent } = announcer();
    for (let waiting = 0; waiting < 8; waiting += 1) own.announce(news(waiting));
    own.stop();
    clock.advance(100);
    expect(sent).toHaveLength(4);
  });
});
