import { setup } from 'xstate';

/**
 * What can happen to a subserver. `DRAIN`: take nothing new, finish what is here; `DRAINED`: nothing is left;
 * `STOP`: end now, whatever is left; `LOAD_FAILED` and `FAIL`: before and after the model was ready.
 */
export type SubserverEvent =
  | { type: 'LOADED' }
  | { type: 'LOAD_FAILED' }
  | { type: 'DRAIN' }
  | { type: 'DRAINED' }
  | { type: 'STOP' }
  | { type: 'FAIL' };

/** The life of one subserver. A drain asked for during loading is honoured: the model is never served. */
export const subserverMachine = setup({
  types: { events: {} as SubserverEvent },
}).createMachine({
  id: 'subserver',
  initial: 'starting',
  states: {
    starting: {
      on: { LOADED: 'serving', LOAD_FAILED: 'failed', FAIL: 'failed', DRAIN: 'draining', STOP: 'stopped' },
    },
    serving: {
      on: { DRAIN: 'draining', STOP: 'stopped', FAIL: 'failed' },
    },
    draining: {
      on: { DRAINED: 'stopped', STOP: 'stopped', LOAD_FAILED: 'failed', FAIL: 'failed' },
    },
    stopped: { type: 'final' },
    failed: { type: 'final' },
  },
});
