import { describe, expect, it } from 'vitest';
import v8 from 'node:v8';
import { Actor } from 'xstate';
import { createRequestLifecycle, type RequestEvent, type RequestLifecycle } from '../../../machines/index.ts';

/** Collects garbage, then counts the actors that something still holds. */
const liveActors = (): number => Number(v8.queryObjects(Actor, { format: 'count' }));

/** Every way a request can end, in equal parts. */
const ENDINGS: readonly RequestEvent[][] = [
  [{ type: 'SCHEDULED' }, { type: 'FINISH', reason: 'eos' }],
  [{ type: 'SCHEDULED' }, { type: 'ABORT', reason: 'abort' }],
  [{ type: 'FAIL', code: 'numerical_failure' }],
  [{ type: 'ABORT', reason: 'deadline' }],
  [{ type: 'SCHEDULED' }, { type: 'HANDOFF', to: 2 }, { type: 'FINISH', reason: 'stop' }],
  [{ type: 'HANDOFF', to: 2 }, { type: 'EVICT' }, { type: 'RETURN' }, { type: 'RELEASE' }],
];

// Node 20.13 is the first that can count objects.
describe.skipIf(typeof v8.queryObjects !== 'function')('actors of requests', () => {
  it('are gone after each of 10,000 requests, whatever its end and although the handles are kept', () => {
    const baseline = liveActors();
    const handles: RequestLifecycle[] = [];
    for (let i = 0; i < 10_000; i += 1) {
      const lifecycle = createRequestLifecycle(`req-${i}`);
      for (const event of ENDINGS[i % ENDINGS.length] ?? []) expect(lifecycle.send(event)).toBe(true);
      handles.push(lifecycle);
    }
    expect(handles.every((handle) => handle.phase === 'finished')).toBe(true);
    expect(liveActors()).toBe(baseline);
  });

  it('are counted by this check while they live, and gone after stop', () => {
    const baseline = liveActors();
    const handles = Array.from({ length: 50 }, (_, i) => createRequestLifecycle(`req-${i}`));
    expect(liveActors()).toBe(baseline + 50);
    for (const handle of handles) handle.stop();
    expect(liveActors()).toBe(baseline);
    expect(handles).toHaveLength(50);
  });

  it('let an id be used again', () => {
    const first = createRequestLifecycle('req-same');
    first.send({ type: 'FINISH', reason: 'eos' });
    const second = createRequestLifecycle('req-same');
    expect(second.state).toBe('running.queued');
    expect(second.send({ type: 'SCHEDULED' })).toBe(true);
    expect(first.state).toBe('finished.completed');
    second.stop();
  });
});
