import { describe, expect, it } from 'vitest';
import { Fleet } from '../../../actors/gateway/fleet.ts';
import { readiness } from '../../../actors/gateway/readiness.ts';
import type { Heartbeat } from '../../../transport/messages.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { deployment } from '../../helpers/gateway-deployment.ts';

const heartbeat = (fields: Partial<Heartbeat> = {}): Heartbeat => ({
  kind: 'heartbeat',
  model: 1,
  replica: 'r1',
  instance: 'i1',
  configHash: 'hash',
  state: 'serving',
  running: 0,
  waiting: 0,
  pending: 0,
  kvUsedBlocks: 0,
  kvTotalBlocks: 8,
  maxModelLenTokens: 512,
  stepAgeMs: 0,
  counters: {},
  ...fields,
});

function makeFleet(): { fleet: Fleet; clock: ManualClock; state: () => ReturnType<typeof readiness> } {
  const clock = new ManualClock();
  const fleet = new Fleet(
    { deployment, configHash: 'hash', heartbeatStaleMs: 2_000, stepHungMs: 10_000 },
    clock,
  );
  return { fleet, clock, state: () => readiness(deployment, 'serving', 'connected', fleet.replicas()) };
}

describe('readiness', () => {
  it('is ready when every model has a serving replica, and names the model without one', () => {
    const { fleet, state } = makeFleet();
    fleet.observe(heartbeat());
    expect(state()).toMatchObject({
      status: 'unready',
      models: {
        small: { status: 'ready', replicas: 1 },
        large: { status: 'unready', reasons: ['no replica was heard of'] },
      },
    });
    fleet.observe(heartbeat({ model: 2 }));
    expect(state().status).toBe('ready');
  });

  it('turns unready when heartbeats stop, and ready again when they return', () => {
    const { fleet, clock, state } = makeFleet();
    fleet.observe(heartbeat());
    fleet.observe(heartbeat({ model: 2 }));
    clock.advance(2_001);
    fleet.observe(heartbeat());
    expect(state()).toMatchObject({
      status: 'unready',
      models: { large: { reasons: ['replica r1: no heartbeat for 2001 ms'] } },
    });
    fleet.observe(heartbeat({ model: 2 }));
    expect(state().status).toBe('ready');
  });

  it('does not count replicas that hang in a step, load, drain or run another configuration', () => {
    const faults: [Partial<Heartbeat>, RegExp][] = [
      [{ stepAgeMs: 10_000 }, /step in flight/],
      [{ state: 'starting' }, /state starting/],
      [{ state: 'draining' }, /state draining/],
      [{ state: 'failed' }, /state failed/],
      [{ configHash: 'other' }, /another configuration/],
    ];
    for (const [fields, reason] of faults) {
      const { fleet, state } = makeFleet();
      fleet.observe(heartbeat());
      fleet.observe(heartbeat({ model: 2, ...fields }));
      expect(state().status).toBe('unready');
      expect(state().models['large']?.reasons[0]).toMatch(reason);
      fleet.observe(heartbeat({ model: 2, replica: 'r2' }));
      expect(state().status).toBe('ready');
    }
  });

  it('lets the age of a step grow while its heartbeat grows old', () => {
    const { fleet, clock, state } = makeFleet();
    fleet.observe(heartbeat());
    fleet.observe(heartbeat({ model: 2, stepAgeMs: 9_000 }));
    expect(state().status).toBe('ready');
    clock.advance(1_000);
    expect(state().status).toBe('unready');
  });

  it('is unready without a bus, while starting and while draining', () => {
    const { fleet } = makeFleet();
    fleet.observe(heartbeat());
    fleet.observe(heartbeat({ model: 2 }));
    expect(readiness(deployment, 'serving', 'disconnected', fleet.replicas()).status).toBe('unready');
    expect(readiness(deployment, 'starting', 'connected', fleet.replicas()).status).toBe('unready');
    expect(readiness(deployment, 'draining', 'connected', fleet.replicas()).status).toBe('unready');
  });
});

describe('Fleet', () => {
  it('takes the smallest context of the replicas heard of lately', () => {
    const { fleet, clock } = makeFleet();
    expect(fleet.maxModelLenTokens()).toBeUndefined();
    fleet.observe(heartbeat({ maxModelLenTokens: 256 }));
    clock.advance(1_500);
    fleet.observe(heartbeat({ model: 2, maxModelLenTokens: 512 }));
    expect(fleet.maxModelLenTokens()).toBe(256);
    clock.advance(1_000);
    expect(fleet.maxModelLenTokens()).toBe(512);
  });

  it('leaves replicas that failed or run another configuration no say about the context', () => {
    const { fleet } = makeFleet();
    fleet.observe(heartbeat({ replica: 'x', configHash: 'other', maxModelLenTokens: 1 }));
    fleet.observe(heartbeat({ replica: 'y', state: 'failed', maxModelLenTokens: 2 }));
    expect(fleet.maxModelLenTokens()).toBeUndefined();
    fleet.observe(heartbeat());
    expect(fleet.maxModelLenTokens()).toBe(512);
  });

  it('makes room for who speaks now when full of replicas that fell silent', () => {
    const { fleet, clock, state } = makeFleet();
    for (let i = 0; i < 1_024; i += 1) fleet.observe(heartbeat({ replica: `r${i}` }));
    expect(fleet.observe(heartbeat({ model: 2 }))).toBe(false);
    clock.advance(2_001);
    expect(state().models['small']?.reasons).toHaveLength(17);
    expect(state().models['small']?.reasons.at(-1)).toBe('and 1008 more');
    expect(fleet.observe(heartbeat({ model: 2 }))).toBe(true);
    expect(state().models['large']).toMatchObject({ status: 'ready', replicas: 1 });
  });

  it('forgets replicas that stopped or stayed silent, and refuses unknown models and a flood of names', () => {
    const { fleet, clock } = makeFleet();
    expect(fleet.observe(heartbeat({ model: 9 }))).toBe(false);
    fleet.observe(heartbeat());
    fleet.observe(heartbeat({ state: 'stopped' }));
    expect(fleet.replicas()).toHaveLength(0);
    for (let i = 0; i < 2_000; i += 1) fleet.observe(heartbeat({ replica: `r${i}` }));
    expect(fleet.replicas()).toHaveLength(1_024);
    clock.advance(60_000);
    expect(fleet.observe(heartbeat({ replica: 'new' }))).toBe(true);
    expect(fleet.replicas()).toHaveLength(1);
  });
});
