import { describe, expect, it } from 'vitest';
import {
  createSubserverLifecycle,
  type SubserverEvent,
  type SubserverPhase,
} from '../../../machines/index.ts';
import type { SubserverState } from '../../../transport/messages.ts';

const EVENT_TYPES = ['LOADED', 'LOAD_FAILED', 'DRAIN', 'DRAINED', 'STOP', 'FAIL'] as const;

const EXPECTED: Record<SubserverPhase, Partial<Record<SubserverEvent['type'], SubserverPhase>>> = {
  starting: { LOADED: 'serving', LOAD_FAILED: 'failed', FAIL: 'failed', DRAIN: 'draining', STOP: 'stopped' },
  serving: { DRAIN: 'draining', STOP: 'stopped', FAIL: 'failed' },
  draining: { DRAINED: 'stopped', STOP: 'stopped', LOAD_FAILED: 'failed', FAIL: 'failed' },
  stopped: {},
  failed: {},
};

const WAYS: Record<SubserverPhase, SubserverEvent[]> = {
  starting: [],
  serving: [{ type: 'LOADED' }],
  draining: [{ type: 'LOADED' }, { type: 'DRAIN' }],
  stopped: [{ type: 'STOP' }],
  failed: [{ type: 'LOAD_FAILED' }],
};

describe('the subserver machine', () => {
  for (const state of Object.keys(EXPECTED) as SubserverPhase[]) {
    for (const type of EVENT_TYPES) {
      const target = EXPECTED[state][type];
      it(`${state} on ${type}: ${target ?? 'not legal'}`, () => {
        const lifecycle = createSubserverLifecycle();
        for (const event of WAYS[state]) lifecycle.send(event);
        expect(lifecycle.state).toBe(state);
        expect(lifecycle.send({ type })).toBe(target !== undefined);
        expect(lifecycle.state).toBe(target ?? state);
        lifecycle.stop();
      });
    }
  }

  it('never serves when it was told to drain while loading', () => {
    const lifecycle = createSubserverLifecycle();
    lifecycle.send({ type: 'DRAIN' });
    expect(lifecycle.send({ type: 'LOADED' })).toBe(false);
    expect(lifecycle.state).toBe('draining');
    lifecycle.stop();
    expect(lifecycle.send({ type: 'DRAINED' })).toBe(false);
  });

  it('uses the words of the heartbeat', () => {
    const toWire = (state: SubserverPhase): SubserverState => state;
    const fromWire = (state: SubserverState): SubserverPhase => state;
    expect(fromWire(toWire('serving'))).toBe('serving');
  });
});
