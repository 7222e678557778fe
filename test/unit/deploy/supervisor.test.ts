import { describe, expect, test } from 'vitest';
import { RestartPolicy, SupervisedChild } from '../../../actors/supervisor.ts';
import { silentLogger } from '../../../core/log.ts';
import type { Logger } from '../../../core/log.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

/** A child whose runs a test ends by hand. */
function supervised(options: { runMs?: number; logger?: Logger } = {}): {
  clock: ManualClock;
  child: SupervisedChild;
  startsMs: number[];
  end: (reason?: string) => void;
} {
  const clock = new ManualClock();
  const startsMs: number[] = [];
  const zero = clock.nowMs();
  let end: (reason?: string) => void = () => {};
  const spawn = (onExit: (exit: { reason: string }) => void): void => {
    startsMs.push(clock.nowMs() - zero);
    end = (reason = 'exit code 1') => onExit({ reason });
    if (options.runMs !== undefined) clock.setTimer(options.runMs, () => onExit({ reason: 'exit code 1' }));
  };
  const child = new SupervisedChild(
    { name: 'large', spawn },
    { clock, logger: options.logger ?? silentLogger },
  );
  return { clock, child, startsMs, end: (reason) => end(reason) };
}

describe('a child that can never start', () => {
  test('is started at most six times in the first minute, with growing delay', () => {
    const { clock, child, startsMs } = supervised({ runMs: 10 });
    child.start();
    clock.advance(60_000);
    expect(startsMs.length).toBeLessThanOrEqual(6);
    const gaps = startsMs.slice(1).map((start, i) => start - (startsMs[i] ?? 0));
    expect(gaps).toEqual([1010, 2010, 4010, 8010, 16_010]);
  });

  test('is given up, is still tried once a minute, and says so', () => {
    const messages: string[] = [];
    const logger: Logger = { ...silentLogger, error: (_fields, message) => messages.push(message) };
    const { clock, child, startsMs } = supervised({ runMs: 10, logger });
    child.start();
    clock.advance(120_000);
    expect(child.state).toBe('given-up');
    expect(messages.at(-1)).toMatch(/^large ended: exit code 1; given up .*every 60 s$/);
    const before = startsMs.length;
    clock.advance(600_000);
    expect(startsMs.length - before).toBeGreaterThanOrEqual(9);
    expect(startsMs.length - before).toBeLessThanOrEqual(10);
  });
});

test('a good run wipes out the failures before it', () => {
  const { clock, child, startsMs, end } = supervised();
  child.start();
  for (const delayMs of [1000, 2000, 4000]) {
    end();
    clock.advance(delayMs);
  }
  expect(startsMs).toHaveLength(4);
  clock.advance(30_000);
  end('signal SIGKILL');
  expect(child.state).toBe('waiting');
  clock.advance(1000);
  expect(child.state).toBe('running');
  expect(child.numStarts).toBe(5);
});

test('after stop nothing starts any more, whether it ran or waited', () => {
  const running = supervised();
  running.child.start();
  running.child.stop();
  running.end();
  running.clock.advance(1e6);
  expect(running.startsMs).toHaveLength(1);

  const waiting = supervised();
  waiting.child.start();
  waiting.end();
  waiting.child.stop();
  waiting.clock.advance(1e6);
  expect(waiting.startsMs).toHaveLength(1);
  expect(waiting.clock.numPending).toBe(0);
});

test('an end that is reported twice counts once, and a second start does nothing', () => {
  const { clock, child, startsMs, end } = supervised();
  child.start();
  child.start();
  end();
  end();
  clock.advance(1000);
  expect(startsMs).toHaveLength(2);
});

test('the delay never exceeds that of a child that is given up', () => {
  const policy = new RestartPolicy({ firstDelayMs: 50_000, givenUpDelayMs: 60_000 });
  expect(Array.from({ length: 8 }, () => policy.next(0).delayMs)).toEqual([
    50_000,
    ...Array<number>(7).fill(60_000),
  ]);
});
