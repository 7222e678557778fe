import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMachine, type AnyStateMachine } from 'xstate';
import {
  compileTable,
  createRequestLifecycle,
  createSubserverLifecycle,
  requestMachine,
  subserverMachine,
  type RequestEvent,
  type SubserverEvent,
} from '../../../machines/index.ts';

const requestEvent: fc.Arbitrary<RequestEvent> = fc.oneof(
  // The events that keep a request alive come more often: otherwise most walks end at once.
  { weight: 9, arbitrary: fc.constantFrom<RequestEvent>({ type: 'SCHEDULED' }, { type: 'RETURN' }) },
  { weight: 9, arbitrary: fc.constantFrom<RequestEvent>({ type: 'PREEMPT' }, { type: 'EVICT' }) },
  { weight: 9, arbitrary: fc.integer({ min: 1, max: 9 }).map((to) => ({ type: 'HANDOFF', to }) as const) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<RequestEvent>(
      { type: 'FINISH', reason: 'eos' },
      { type: 'ABORT', reason: 'abort' },
      { type: 'FAIL', code: 'internal' },
      { type: 'RELEASE' },
    ),
  },
);

const subserverEvent = fc.constantFrom<SubserverEvent['type']>(
  'LOADED',
  'LOAD_FAILED',
  'DRAIN',
  'DRAINED',
  'STOP',
  'FAIL',
);

describe('the compiled table', () => {
  it('goes where the request actor goes, on every walk', () => {
    const table = compileTable(requestMachine);
    const visited = new Set<string>();
    fc.assert(
      fc.property(fc.array(requestEvent, { maxLength: 60 }), (events) => {
        const lifecycle = createRequestLifecycle('walk');
        let state = table.initial;
        for (const event of events) {
          const next = table.next(state, event.type);
          expect(lifecycle.send(event)).toBe(next !== undefined);
          state = next ?? state;
          expect(lifecycle.state).toBe(state);
          expect(lifecycle.phase === 'finished').toBe(table.isFinal(state));
          visited.add(state);
        }
        lifecycle.stop();
      }),
      { numRuns: 400 },
    );
    expect([...visited].sort()).toEqual([...table.states].sort());
  });

  it('goes where the subserver actor goes, on every walk', () => {
    const table = compileTable(subserverMachine);
    fc.assert(
      fc.property(fc.array(subserverEvent, { maxLength: 8 }), (types) => {
        const lifecycle = createSubserverLifecycle();
        let state = table.initial;
        for (const type of types) {
          const next = table.next(state, type);
          expect(lifecycle.send({ type })).toBe(next !== undefined);
          state = next ?? state;
          expect(lifecycle.state).toBe(state);
        }
        lifecycle.stop();
      }),
    );
  });

  it('has no transition that leaves the state as it was (the handle tells legal from illegal by that)', () => {
    for (const machine of [requestMachine, subserverMachine]) {
      const table = compileTable(machine);
      for (const state of table.states) {
        for (const event of table.events) expect(table.next(state, event)).not.toBe(state);
      }
    }
  });

  it('lets the innermost state decide', () => {
    const machine = createMachine({
      initial: 'outer',
      states: {
        outer: { initial: 'inner', on: { GO: 'b' }, states: { inner: { on: { GO: 'other' } }, other: {} } },
        b: { type: 'final' },
      },
    });
    const table = compileTable(machine);
    expect(table.next('outer.inner', 'GO')).toBe('outer.other');
    expect(table.next('outer.other', 'GO')).toBe('b');
  });

  const refused: [string, AnyStateMachine][] = [
    [
      'a guard',
      createMachine({
        initial: 'a',
        states: { a: { on: { GO: { target: 'b', guard: () => true } } }, b: {} },
      }),
    ],
    ['an eventless transition', createMachine({ initial: 'a', states: { a: { always: 'b' }, b: {} } })],
    ['a delay', createMachine({ initial: 'a', states: { a: { after: { 5: 'b' } }, b: {} } })],
    ['a wildcard', createMachine({ initial: 'a', states: { a: { on: { '*': 'b' } }, b: {} } })],
    [
      'no target',
      createMachine({ initial: 'a', states: { a: { on: { GO: { actions: () => {} } } }, b: {} } }),
    ],
    ['a parallel state', createMachine({ type: 'parallel', states: { a: {}, b: {} } })],
  ];
  for (const [what, machine] of refused) {
    it(`refuses a machine with ${what}`, () => {
      expect(() => compileTable(machine)).toThrow(expect.objectContaining({ code: 'illegal_state' }));
    });
  }
});
