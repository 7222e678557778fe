import { TokenrailError } from '../../core/errors.ts';
import { modelError, type CompleteSpec } from './chain-spec.ts';
import { EpochStep } from './epoch.ts';
import { GrowingDoubles, GrowingInts } from './growing-array.ts';
import type { Starter } from './starter.ts';
import { StateTable } from './state-table.ts';

/** Larger chains are refused: they would take minutes and gigabytes. */
export const MAX_STATES = 2_000_000;

/** The embedded chain at epochs, in the states just after the starts; state 0 is the initial one. */
export interface Chain {
  numStates: number;
  numModels: number;
  /** Waiting, rows running and remaining ticks of model i in state s: at 3M s + 3i, + 1, + 2. */
  states: Int32Array;
  /** Ticks until the next epoch, contention included, per state. */
  ticks: Float64Array;
  /** Tokens committed at that epoch, on average, per state. */
  tokens: Float64Array;
  /** Edges out of state s are at edgeStart[s] … edgeStart[s + 1]. One target may occur more than once. */
  edgeStart: Int32Array;
  edgeTo: Int32Array;
  edgeProbability: Float64Array;
}

/** A chain with more states than one is willing to solve. */
export class TooManyStatesError extends TokenrailError {
  constructor(maxStates: number) {
    super('config_invalid', `throughput model: more than ${maxStates} states; use a coarser quantum`);
  }
}

/** The state "everybody waits at model 1", before the starts. */
export function initialState(spec: CompleteSpec): Int32Array {
  const state = new Int32Array(3 * spec.stepMs.length);
  state[0] = spec.concurrency;
  return state;
}

/**
 * All states that "everybody waits at model 1" leads to under a policy, breadth first.
 *
 * @param negligible ways of routing no likelier than this are left out, which saves most states of large systems; 0 = exact
 * @throws TokenrailError `config_invalid` where nobody could start any more; {@link TooManyStatesError} above `maxStates`
 */
export function buildChain(
  spec: CompleteSpec,
  start: Starter,
  maxStates = MAX_STATES,
  negligible = 0,
): Chain {
  const numModels = spec.stepMs.length;
  const table = new StateTable(3 * numModels);
  const epoch = new EpochStep(spec, negligible);
  const [ticks, tokens] = [new GrowingDoubles(), new GrowingDoubles()];
  const [edgeStart, edgeTo, edgeProbability] = [new GrowingInts(), new GrowingInts(), new GrowingDoubles()];
  const state = initialState(spec);
  start(state);
  table.numberOf(state);
  const emit = (next: Int32Array, probability: number): void => {
    start(next);
    edgeTo.push(table.numberOf(next));
    edgeProbability.push(probability);
  };
  for (let s = 0; s < table.size; s += 1) {
    if (table.size > maxStates) throw new TooManyStatesError(maxStates);
    table.read(s, state);
    edgeStart.push(edgeTo.length);
    epoch.expand(state, emit);
    if (epoch.ticks === 0) throw modelError(`${spec.concurrency} requests wait and nobody could start`);
    ticks.push(epoch.ticks);
    tokens.push(epoch.tokens);
  }
  edgeStart.push(edgeTo.length);
  return {
    numStates: table.size,
    numModels,
    states: table.toArray(),
    ticks: ticks.toArray(),
    tokens: tokens.toArray(),
    edgeStart: edgeStart.toArray(),
    edgeTo: edgeTo.toArray(),
    edgeProbability: edgeProbability.toArray(),
  };
}

/** Whether a chain has more than so many states, for less time and memory than it takes to build it. */
export function hasMoreStates(
  spec: CompleteSpec,
  start: Starter,
  numStates: number,
  negligible = 0,
): boolean {
  const table = new StateTable(3 * spec.stepMs.length);
  const epoch = new EpochStep(spec, negligible);
  const state = initialState(spec);
  start(state);
  table.numberOf(state);
  for (let s = 0; s < table.size && table.size <= numStates; s += 1) {
    table.read(s, state);
    epoch.expand(state, (next) => {
      start(next);
      table.numberOf(next);
    });
  }
  return table.size > numStates;
}
