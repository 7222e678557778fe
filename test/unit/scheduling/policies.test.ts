import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicy, type QueueView } from '../../../scheduling/index.ts';

const view = (change: Partial<QueueView> = {}): QueueView => ({
  self: 1,
  home: 1,
  nowMs: 100,
  waiting: 2,
  oldestWaitMs: 0,
  alive: 10,
  maxNumSeqs: 8,
  isSystemStalled: false,
  peers: [],
  stepMs: () => 10,
  stepJitter: 0,
  overlapFactor: 1,
  ...change,
});

describe('policies', () => {
  it('eager starts at once', () => {
    expect(createPolicy({ kind: 'eager' }).decide(view({ waiting: 1 }))).toEqual({ kind: 'start' });
  });

  it('a threshold holds below it and starts at it', () => {
    const policy = createPolicy({ kind: 'threshold', threshold: 4, maxWaitMs: 50 });
    expect(policy.decide(view({ waiting: 3, oldestWaitMs: 20 }))).toEqual({ kind: 'hold', forMs: 30 });
    expect(policy.decide(view({ waiting: 4 }))).toEqual({ kind: 'start' });
  });

  it('never waits for more rows than can come, nor for more than a step takes', () => {
    const policy = createPolicy({ kind: 'threshold', threshold: 100 });
    expect(policy.decide(view({ waiting: 3, alive: 3 })).kind).toBe('start');
    expect(policy.decide(view({ waiting: 8, alive: 90 })).kind).toBe('start');
  });

  it('starts when the system stands still', () => {
    const policy = createPolicy({ kind: 'threshold', threshold: 9 });
    expect(policy.decide(view({ isSystemStalled: true })).kind).toBe('start');
  });

  it('holds for a time that a clock resolves, or starts', () => {
    const wait = fc.double({ min: 0, max: 1000, noNaN: true });
    fc.assert(
      fc.property(wait, wait, (maxWaitMs, oldestWaitMs) => {
        const decision = createPolicy({ kind: 'threshold', threshold: 5, maxWaitMs }).decide(
          view({ oldestWaitMs }),
        );
        if (decision.kind === 'start') expect(maxWaitMs - oldestWaitMs).toBeLessThan(0.001);
        else expect(decision.forMs).toBeGreaterThanOrEqual(0.001);
      }),
    );
  });

  it('refuses thresholds and waits that mean nothing', () => {
    for (const spec of [{ threshold: 0 }, { threshold: 1.5 }, { maxWaitMs: -1 }, { maxWaitMs: NaN }]) {
      expect(() => createPolicy({ kind: 'threshold', ...spec })).toThrow(
        expect.objectContaining({ code: 'config_invalid' }),
      );
    }
  });
});
