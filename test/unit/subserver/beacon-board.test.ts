import { describe, expect, it } from 'vitest';
import { BeaconBoard } from '../../../actors/subserver/beacon-board.ts';
import type { Beacon } from '../../../transport/messages.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

const idle = { rowsRunning: 0, stepLeftMs: 0 };

const CURVE = { curve: [[1, 6]], jitter: 0, overlapFactor: 1, numOutcomes: 100, maxNumSeqs: 4 } as const;

function board(self = 2): { clock: ManualClock; beacons: BeaconBoard } {
  const clock = new ManualClock();
  return { clock, beacons: new BeaconBoard({ self, replica: 'r1', home: 1, staleMs: 400 }, clock) };
}

const hear = (beacons: BeaconBoard, model: number, replica: string, news: Partial<Beacon>): void =>
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

describe('what has passed since a beacon', () => {
  const estimates = { routing: [0.6, 0.4], commits: [1, 0], ...CURVE };

  it('rows that come from a running peer: its step has ended, and it starts again with what it has', () => {
    const { beacons, clock } = board();
    hear(beacons, 1, 'r0', { rowsRunning: 5, stepLeftMs: 6, waiting: 1, aliveAtHome: 6, estimates });
    clock.advance(6);
    beacons.cameFrom(1, 'r0');
    beacons.cameFrom(1, 'r0');
    expect(beacons.peers()).toMatchObject([
      { rowsRunning: 4, stepLeftMs: 6, waiting: 0, isDeciding: true, shareToHere: 0.4 },
    ]);
    clock.advance(2);
    beacons.handedTo(1, 'r0');
    expect(beacons.peers()).toMatchObject([{ rowsRunning: 4, stepLeftMs: 4, waiting: 1 }]);
    hear(beacons, 1, 'r0', { rowsRunning: 3, stepLeftMs: 5, aliveAtHome: 6 });
    expect(beacons.peers()).toMatchObject([{ rowsRunning: 3, stepLeftMs: 5, waiting: 0, isDeciding: false }]);
  });

  it('rows that go to an idle peer: it starts with them, unless it decides later in this instant', () => {
    const home = board(1);
    hear(home.beacons, 2, 'r0', { waiting: 1, estimates });
    home.beacons.handedTo(2, undefined);
    expect(home.beacons.peers()).toMatchObject([{ rowsRunning: 0, waiting: 2, isDeciding: true }]);
    expect(isStalled(home.beacons, 9, 0)).toBe(false);
    home.clock.advance(1);
    expect(home.beacons.peers()).toMatchObject([{ rowsRunning: 2, stepLeftMs: 5, waiting: 0 }]);
    home.clock.advance(60); // its word was lost
    expect(home.beacons.peers()).toMatchObject([{ rowsRunning: 0, waiting: 2, isDeciding: false }]);

    const guest = board(2);
    hear(guest.beacons, 1, 'r0', { estimates });
    guest.beacons.handedTo(1, 'r0');
    expect(guest.beacons.peers()).toMatchObject([{ rowsRunning: 1, stepLeftMs: 6 }]); // the home decides first
  });

  it('rows that go to a running peer wait there', () => {
    const { beacons, clock } = board();
    hear(beacons, 1, 'r0', { rowsRunning: 2, stepLeftMs: 6 });
    beacons.handedTo(1, 'r0');
    clock.advance(8);
    expect(beacons.peers()).toMatchObject([{ rowsRunning: 2, stepLeftMs: -2, waiting: 1 }]); // overdue
  });

  it('who has just ended a step and has rows is about to decide', () => {
    const { beacons, clock } = board(1);
    hear(beacons, 2, 'r0', { waiting: 3, isDeciding: true, estimates });
    expect(beacons.peers()).toMatchObject([{ rowsRunning: 0, waiting: 3, isDeciding: true }]);
    hear(beacons, 2, 'r0', { waiting: 3 });
    clock.advance(1);
    expect(beacons.peers()).toMatchObject([{ rowsRunning: 0, waiting: 3, isDeciding: false }]);
  });

  it('a step goes on more slowly while this model runs on the same device', () => {
    const { beacons, clock } = board();
    beacons.overlapFactor = 0.5;
    hear(beacons, 1, 'r0', { rowsRunning: 2, stepLeftMs: 10 });
    clock.advance(2);
    beacons.stepStarted();
    clock.advance(4);
    beacons.stepEnded();
    expect(beacons.peers()[0]?.stepLeftMs).toBeCloseTo(10 - 2 - 4 * 0.5, 9);
  });

  it('the time others ran is counted, whoever it was', () => {
    const { beacons, clock } = board();
    hear(beacons, 2, 'r2', { rowsRunning: 2, stepLeftMs: 10 }); // the same model: another device
    clock.advance(5);
    expect(beacons.othersBusyMs).toBe(0);
    hear(beacons, 1, 'r0', { rowsRunning: 2, stepLeftMs: 10 });
    hear(beacons, 3, 'r0', { rowsRunning: 2, stepLeftMs: 10 });
    clock.advance(4);
    hear(beacons, 1, 'r0', {});
    clock.advance(3);
    beacons.cameFrom(3, 'r0');
    clock.advance(9);
    expect(beacons.othersBusyMs).toBe(7);
  });

  it('who is gone runs nothing any more', () => {
    const { beacons, clock } = board();
    hear(beacons, 1, 'r0', { rowsRunning: 2, stepLeftMs: 20 });
    clock.advance(500);
    expect(beacons.peers()).toEqual([]);
    const before = beacons.othersBusyMs;
    clock.advance(100);
    expect(beacons.othersBusyMs).toBe(before);
  });

  it('shares are divided among the replicas here, and estimates are kept between beacons', () => {
    const { beacons } = board();
    hear(beacons, 1, 'r0', { estimates });
    hear(beacons, 2, 'r2', {});
    hear(beacons, 1, 'r0', { rowsRunning: 1 });
    expect(beacons.peers()[0]?.shareToHere).toBeCloseTo(0.2, 9);
  });
});
