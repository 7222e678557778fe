import { describe, expect, it } from 'vitest';
import { createRequestLifecycle, type RequestEvent, type RequestState } from '../../../machines/index.ts';

const EVENTS: readonly RequestEvent[] = [
  { type: 'SCHEDULED' },
  { type: 'HANDOFF', to: 2 },
  { type: 'RETURN' },
  { type: 'PREEMPT' },
  { type: 'EVICT' },
  { type: 'FINISH', reason: 'eos' },
  { type: 'ABORT', reason: 'stop' },
  { type: 'FAIL', code: 'router_failed' },
  { type: 'RELEASE' },
];

const ENDS = {
  FINISH: 'finished.completed',
  ABORT: 'finished.aborted',
  FAIL: 'finished.failed',
  RELEASE: 'finished.released',
} as const;

/** The whole machine, written down by hand: everything not listed is illegal. */
const EXPECTED: Record<RequestState, Record<string, RequestState>> = {
  'running.queued': {
    SCHEDULED: 'running.decoding',
    PREEMPT: 'running.preempted',
    HANDOFF: 'pending.handedOff',
    ...ENDS,
  },
  'running.decoding': { PREEMPT: 'running.preempted', HANDOFF: 'pending.handedOff', ...ENDS },
  'running.preempted': { SCHEDULED: 'running.decoding', HANDOFF: 'pending.handedOff', ...ENDS },
  'pending.handedOff': { RETURN: 'running.queued', EVICT: 'pending.evicted', ...ENDS },
  'pending.evicted': { RETURN: 'running.queued', ...ENDS },
  'finished.completed': {},
  'finished.aborted': {},
  'finished.failed': {},
  'finished.released': {},
};

/** Shortest ways into each state. */
const WAYS: Record<RequestState, RequestEvent[]> = {
  'running.queued': [],
  'running.decoding': [{ type: 'SCHEDULED' }],
  'running.preempted': [{ type: 'PREEMPT' }],
  'pending.handedOff': [{ type: 'SCHEDULED' }, { type: 'HANDOFF', to: 3 }],
  'pending.evicted': [{ type: 'HANDOFF', to: 3 }, { type: 'EVICT' }],
  'finished.completed': [{ type: 'FINISH', reason: 'length' }],
  'finished.aborted': [{ type: 'ABORT', reason: 'abort' }],
  'finished.failed': [{ type: 'FAIL', code: 'numerical_failure' }],
  'finished.released': [{ type: 'HANDOFF', to: 1 }, { type: 'RELEASE' }],
};

const inState = (state: RequestState) => {
  const lifecycle = createRequestLifecycle('req-1');
  for (const event of WAYS[state]) expect(lifecycle.send(event)).toBe(true);
  expect(lifecycle.state).toBe(state);
  return lifecycle;
};

describe('the request machine', () => {
  for (const state of Object.keys(EXPECTED) as RequestState[]) {
    for (const event of EVENTS) {
      const target = EXPECTED[state][event.type];
      it(`${state} on ${event.type}: ${target ?? 'not legal, nothing changes'}`, () => {
        const lifecycle = inState(state);
        const before = { ...lifecycle };
        const reasonBefore = lifecycle.endReason;
        expect(lifecycle.send(event)).toBe(target !== undefined);
        expect(lifecycle.state).toBe(target ?? state);
        expect(lifecycle.phase).toBe((target ?? state).split('.')[0]);
        if (target === undefined) {
          expect({ ...lifecycle }).toEqual(before);
          expect(lifecycle.endReason).toBe(reasonBefore);
        }
        lifecycle.stop();
      });
    }
  }

  it('remembers where the request is, and forgets it on its return', () => {
    const lifecycle = createRequestLifecycle('req-7');
    expect(lifecycle.rid).toBe('req-7');
    expect(lifecycle.handedTo).toBe(0);
    lifecycle.send({ type: 'HANDOFF', to: 3 });
    expect(lifecycle.handedTo).toBe(3);
    lifecycle.send({ type: 'EVICT' });
    expect(lifecycle.handedTo).toBe(3);
    lifecycle.send({ type: 'RETURN' });
    expect(lifecycle.handedTo).toBe(0);
    lifecycle.stop();
  });

  it('keeps the reason of its end', () => {
    const finished = createRequestLifecycle('a');
    finished.send({ type: 'FINISH', reason: 'length' });
    expect([finished.endReason, finished.failureCode]).toEqual(['length', null]);
    const aborted = createRequestLifecycle('b');
    aborted.send({ type: 'ABORT', reason: 'deadline' });
    expect([aborted.endReason, aborted.failureCode]).toEqual(['deadline', null]);
    const failed = createRequestLifecycle('c');
    failed.send({ type: 'FAIL', code: 'router_failed' });
    expect([failed.endReason, failed.failureCode]).toEqual(['error', 'router_failed']);
    const released = createRequestLifecycle('d');
    released.send({ type: 'RELEASE' });
    expect([released.endReason, released.failureCode]).toEqual([null, null]);
  });

  it('takes no event after stop, wherever it stood', () => {
    const lifecycle = inState('running.decoding');
    lifecycle.stop();
    lifecycle.stop();
    expect(lifecycle.send({ type: 'FINISH', reason: 'eos' })).toBe(false);
    expect(lifecycle.state).toBe('running.decoding');
  });
});
