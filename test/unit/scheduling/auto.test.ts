import { describe, expect, it } from 'vitest';
import { AutoPolicy, createPolicy, type QueueView } from '../../../scheduling/index.ts';

const view = (change: Partial<QueueView> = {}): QueueView => ({
  self: 2,
  home: 1,
  nowMs: 1000,
  waiting: 2,
  oldestWaitMs: 0,
  alive: 8,
  maxNumSeqs: 32,
  isSystemStalled: false,
  peers: [],
  stepMs: () => 10,
  stepJitter: 0,
  overlapFactor: 1,
  ...change,
});

const step = (alive: number, threshold: number): Parameters<AutoPolicy['follow']>[0]['steps'][number] => ({
  alive,
  name: `threshold(${threshold})`,
  tokensPerSecond: 100,
  policy: createPolicy({ kind: 'threshold', threshold }),
  threshold,
});

describe('the policy that schedules itself', () => {
  it('looks ahead until it is given a plan, then follows the step for the requests alive', () => {
    const auto = new AutoPolicy({ maxWaitMs: 250 });
    expect(auto.decide(view())).toEqual({ kind: 'start' }); // nobody is expected
    expect(auto.stateAt(1000, 8)).toMatchObject({ policy: 'look-ahead', reason: 'no plan' });
    auto.follow({ steps: [step(1, 1), step(4, 2), step(8, 5)], receivedMs: 1000 });
    expect(auto.decide(view({ waiting: 4 }))).toMatchObject({ kind: 'hold' });
    expect(auto.decide(view({ waiting: 5 }))).toEqual({ kind: 'start' });
    expect(auto.decide(view({ waiting: 2, alive: 6 }))).toEqual({ kind: 'start' }); // 4 and 8 are as near
    expect(auto.decide(view({ waiting: 4, alive: 99 }))).toMatchObject({ kind: 'hold' });
    expect(auto.stateAt(1000, 7)).toMatchObject({ policy: 'threshold(5)', reason: 'planned' });
  });

  it('looks ahead again when the plan is too old, or no longer fits what is measured', () => {
    const auto = new AutoPolicy({ maxWaitMs: 250 });
    auto.follow({ steps: [step(8, 5)], receivedMs: 1000 });
    expect(auto.decide(view({ nowMs: 5900 }))).toMatchObject({ kind: 'hold' });
    expect(auto.decide(view({ nowMs: 6100 }))).toEqual({ kind: 'start' });
    auto.outdate(true);
    expect(auto.decide(view())).toEqual({ kind: 'start' });
    expect(auto.stateAt(1000, 8).reason).toBe('estimates moved');
    auto.follow({ steps: [step(8, 5)], receivedMs: 1000 });
    expect(auto.decide(view())).toMatchObject({ kind: 'hold' });
  });

  it('no row waits longer than its own ceiling, whatever the plan allows', () => {
    const auto = new AutoPolicy({ maxWaitMs: 30 });
    auto.follow({ steps: [step(8, 5)], receivedMs: 1000 });
    expect(auto.decide(view({ oldestWaitMs: 10 }))).toEqual({ kind: 'hold', forMs: 20 });
    expect(auto.decide(view({ oldestWaitMs: 30 }))).toEqual({ kind: 'start' });
  });

  it('is what the specification "auto" makes', () => {
    const auto = createPolicy({ kind: 'auto', admissionP99Ms: 12 });
    expect(auto).toBeInstanceOf(AutoPolicy);
    expect(auto).toMatchObject({ options: { maxWaitMs: 250, admissionP99Ms: 12 } });
  });
});
