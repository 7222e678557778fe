import { describe, expect, it } from 'vitest';
import { BeaconBoard, type Announcement } from '../../../actors/subserver/beacon-board.ts';
import type { Beacon } from '../../../transport/messages.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const idle = { rowsRunning: 0, stepLeftMs: 0 };

function board(): { clock: ManualClock; beacons: BeaconBoard; sent: Beacon[] } {
  const clock = new ManualClock();
  const sent: Beacon[] = [];
  const options = { self: 2, replica: 'r1', minIntervalMs: 5, staleMs: 400 };
  return { clock, sent, beacons: new BeaconBoard(options, clock, (beacon) => sent.push(beacon)) };
}

const hear = (beacons: BeaconBoard, model: number, replica: string, news: Partial<Announcement>): void =>
  beacons.receive({ kind: 'beacon', model, replica, ...idle, waiting: 0, aliveAtHome: 0, ...news });

const isStalled = (beacons: BeaconBoard, waiting: number, atHome: number): boolean =>
  beacons.isStalled(beacons.peers(), waiting, atHome);

describe('whether the system stands still', () => {
  it('not while somebody runs, nor while a request is on its way', () => {
    const { beacons } = board();
    hear(beacons, 1, 'r0', { aliveAtHome: 3, waiting: 0, rowsRunning: 1 });
    expect(isStalled(beacons, 3, 0)).toBe(false);
    hear(beacons, 1, 'r0', { aliveAtHome: 4, waiting: 0 });
    expect(isStalled(beacons, 3, 0)).toBe(false);
    hear(beacons, 1, 'r0', { aliveAtHome: 3, waiting: 0 });
    expect(isStalled(beacons, 3, 0)).toBe(true);
  });

  it('exactly one of those who hold is to start: the longest queue, then model, then replica', () => {
    const { beacons } = board();
    const turn = (own: number, model: number, replica: string, waiting: number): boolean => {
      hear(beacons, model, replica, { waiting });
      const isMine = isStalled(beacons, own, 0);
      beacons.forget(model, replica);
      return isMine;
    };
    expect(turn(3, 1, 'r0', 2)).toBe(true);
    expect(turn(2, 3, 'r0', 3)).toBe(false);
    expect(turn(2, 1, 'r9', 2)).toBe(false);
    expect(turn(2, 3, 'r0', 2)).toBe(true);
    expect(turn(2, 2, 'r0', 2)).toBe(false);
    expect(turn(2, 2, 'r2', 2)).toBe(true);
  });

  it('a peer that has said nothing for long is gone, whatever it said last', () => {
    const { beacons, clock } = board();
    hear(beacons, 1, 'r0', { aliveAtHome: 5, rowsRunning: 2, stepLeftMs: 900 });
    clock.advance(300);
    expect(beacons.peers()).toMatchObject([{ stepLeftMs: 600, aliveAtHome: 5 }]);
    expect(beacons.aliveFor(beacons.peers(), 1, 1)).toBe(6);
    clock.advance(101);
    expect(beacons.peers()).toEqual([]);
    expect(beacons.aliveFor(beacons.peers(), 1, 1)).toBe(1);
    expect(isStalled(beacons, 1, 1)).toBe(true);
  });

  it('its own beacon, which comes back over the bus, is no peer', () => {
    const { beacons } = board();
    let numNews = 0;
    beacons.onNews = () => (numNews += 1);
    hear(beacons, 2, 'r1', { waiting: 9 });
    expect([beacons.peers(), numNews]).toEqual([[], 0]);
    hear(beacons, 2, 'r2', { waiting: 9 });
    expect(numNews).toBe(1);
  });
});

describe('announcements', () => {
  const news = (waiting: number, rowsRunning = 0, stepLeftMs = 0): Announcement => ({
    rowsRunning,
    stepLeftMs,
    waiting,
    aliveAtHome: 4,
  });

  it('come at most once per interval, the newest at its end; an idle one is not repeated', () => {
    const { beacons, clock, sent } = board();
    for (let waiting = 0; waiting < 4; waiting += 1) beacons.announce(news(waiting));
    expect(sent.map(({ waiting }) => waiting)).toEqual([0]);
    clock.advance(5);
    expect(sent.map(({ waiting }) => waiting)).toEqual([0, 3]);
    clock.advance(50);
    beacons.announce(news(3));
    clock.advance(50);
    expect(sent).toHaveLength(2);
    expect(clock.numPending).toBe(0);
  });

  it('are said again before they grow stale, with what is left of the step', () => {
    const { beacons, clock, sent } = board();
    beacons.refresh();
    expect(sent).toEqual([]);
    beacons.announce(news(1, 2, 150));
    clock.advance(99);
    beacons.refresh();
    expect(sent).toHaveLength(1);
    clock.advance(1);
    beacons.refresh();
    clock.advance(100);
    beacons.refresh();
    expect(sent.map(({ stepLeftMs }) => stepLeftMs)).toEqual([150, 50, 0]);
  });

  it('end with stop', () => {
    const { beacons, clock, sent } = board();
    beacons.announce(news(1));
    beacons.announce(news(2));
    beacons.stop();
    clock.advance(100);
    expect(sent).toHaveLength(1);
  });
});
