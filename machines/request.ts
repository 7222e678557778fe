import { assign, setup } from 'xstate';
import type { ErrorCode } from '../core/errors.ts';
import type { EndReason, ModelId } from '../core/request.ts';

/**
 * What can happen to a request at one subserver.
 *
 * - `SCHEDULED`: its first step since it came here (or since its KV was taken) starts.
 * - `HANDOFF`: it goes to model `to`; tokens and KV stay here.
 * - `RETURN`: it is back and waits for a step.
 * - `PREEMPT`: its KV was taken while it was running; it waits to be computed again.
 * - `EVICT`: its KV was taken while it was away.
 * - `FINISH`, `ABORT`, `FAIL`: it ended here, for that reason.
 * - `RELEASE`: a guest was told by the request's home to forget it.
 */
export type RequestEvent =
  | { type: 'SCHEDULED' }
  | { type: 'HANDOFF'; to: ModelId }
  | { type: 'RETURN' }
  | { type: 'PREEMPT' }
  | { type: 'EVICT' }
  | { type: 'FINISH'; reason: EndReason }
  | { type: 'ABORT'; reason: EndReason }
  | { type: 'FAIL'; code: ErrorCode }
  | { type: 'RELEASE' };

/** What the machine remembers beside its state: for logs and for the tests of the subserver. */
export interface RequestContext {
  readonly rid: string;
  /** The model the request was last handed to; 0 while it has never left or is back. */
  readonly handedTo: ModelId;
  /** Set by `FINISH`, `ABORT` and (as `error`) `FAIL`. */
  readonly endReason: EndReason | null;
  /** Set by `FAIL`. */
  readonly failureCode: ErrorCode | null;
}

/**
 * One request at one subserver, home or guest. Pure: no I/O, no time, no token counts; what happens on every
 * token stays in plain fields of the subserver, the machine hears of changes of phase only.
 *
 * The ends are spelled out in `running` and `pending` instead of once at the root: a root transition would
 * also leave `finished`.
 */
export const requestMachine = setup({
  types: {
    context: {} as RequestContext,
    events: {} as RequestEvent,
    input: {} as { rid: string },
  },
  actions: {
    rememberTarget: assign(({ event }) => (event.type === 'HANDOFF' ? { handedTo: event.to } : {})),
    forgetTarget: assign({ handedTo: 0 }),
    rememberReason: assign(({ event }) =>
      event.type === 'FINISH' || event.type === 'ABORT' ? { endReason: event.reason } : {},
    ),
    rememberFailure: assign(({ event }) =>
      event.type === 'FAIL' ? { endReason: 'error' as const, failureCode: event.code } : {},
    ),
  },
}).createMachine({
  id: 'request',
  context: ({ input }) => ({ rid: input.rid, handedTo: 0, endReason: null, failureCode: null }),
  initial: 'running',
  states: {
    running: {
      initial: 'queued',
      on: {
        HANDOFF: { target: 'pending', actions: 'rememberTarget' },
        FINISH: { target: 'finished.completed', actions: 'rememberReason' },
        ABORT: { target: 'finished.aborted', actions: 'rememberReason' },
        FAIL: { target: 'finished.failed', actions: 'rememberFailure' },
        RELEASE: 'finished.released',
      },
      states: {
        queued: { on: { SCHEDULED: 'decoding', PREEMPT: 'preempted' } },
        decoding: { on: { PREEMPT: 'preempted' } },
        preempted: { on: { SCHEDULED: 'decoding' } },
      },
    },
    pending: {
      initial: 'handedOff',
      on: {
        RETURN: { target: 'running', actions: 'forgetTarget' },
        FINISH: { target: 'finished.completed', actions: 'rememberReason' },
        ABORT: { target: 'finished.aborted', actions: 'rememberReason' },
        FAIL: { target: 'finished.failed', actions: 'rememberFailure' },
        RELEASE: 'finished.released',
      },
      states: {
        handedOff: { on: { EVICT: 'evicted' } },
        evicted: {},
      },
    },
    finished: {
      initial: 'completed',
      states: {
        completed: { type: 'final' },
        aborted: { type: 'final' },
        failed: { type: 'final' },
        released: { type: 'final' },
      },
    },
  },
});
