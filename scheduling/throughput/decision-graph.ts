import { initialState, TooManyStatesError } from './build-chain.ts';
import { modelError, stepTicks, type CompleteSpec, type StepTicks } from './chain-spec.ts';
import { EpochStep } from './epoch.ts';
import { GrowingDoubles, GrowingInts } from './growing-array.ts';
import { startModel, type ChainState } from './starter.ts';
import { StateTable } from './state-table.ts';

/**
 * All that "start with everything, or wait" can lead to. Its nodes are of two kinds: a *flow* is a state just after
 * the starts, and its edges are what may happen until the next epoch; a *choice* is a state just before the starts,
 * and its edges are the flows that one may choose.
 */
export interface DecisionGraph {
  numNodes: number;
  /** 1 for a choice. */
  isChoice: Uint8Array;
  /** Ticks until the next epoch and tokens committed there, per flow; 0 for choices. */
  ticks: Float64Array;
  tokens: Float64Array;
  /** Edges out of node n are at edgeStart[n] … edgeStart[n + 1]. */
  edgeStart: Int32Array;
  edgeTo: Int32Array;
  /** Meaningless for the edges of choices. */
  edgeProbability: Float64Array;
  /** Number of a node, from its state and kind; a new one where there is none yet. */
  nodes: StateTable;
}

/** Nodes are told apart by their states and by a last word: 1 for a choice. */
export function nodeKey(state: ChainState, isChoice: boolean, key: Int32Array): Int32Array {
  key.set(state);
  key[state.length] = isChoice ? 1 : 0;
  return key;
}

/** Calls `emit` with every state that starting some of the idle models with waiting rows leads to, if anybody runs. */
function eachStart(state: ChainState, ticks: StepTicks, emit: (after: ChainState) => void, model = 0): void {
  const at = 3 * model;
  if (at === state.length) {
    for (let m = 1; m < state.length; m += 3) if (state[m] !== 0) return emit(state);
    return;
  }
  eachStart(state, ticks, emit, model + 1);
  const [waiting, running, left] = [state[at] ?? 0, state[at + 1] ?? 0, state[at + 2] ?? 0];
  if (running !== 0 || waiting === 0) return;
  startModel(state, model, ticks);
  eachStart(state, ticks, emit, model + 1);
  state[at] = waiting;
  state[at + 1] = running;
  state[at + 2] = left;
}

/** @throws TooManyStatesError above `maxNodes` */
export function buildDecisionGraph(spec: CompleteSpec, maxNodes: number): DecisionGraph {
  const lengths = stepTicks(spec);
  const epoch = new EpochStep(spec);
  const width = 3 * spec.stepMs.length;
  const nodes = new StateTable(width + 1);
  const [key, node, state] = [new Int32Array(width + 1), new Int32Array(width + 1), new Int32Array(width)];
  const [edgeStart, edgeTo, edgeProbability] = [new GrowingInts(), new GrowingInts(), new GrowingDoubles()];
  const [ticks, tokens, isChoice] = [new GrowingDoubles(), new GrowingDoubles(), new GrowingInts()];
  const addEdge = (next: ChainState, toChoice: boolean, probability: number): void => {
    edgeTo.push(nodes.numberOf(nodeKey(next, toChoice, key)));
    edgeProbability.push(probability);
  };
  nodes.numberOf(nodeKey(initialState(spec), true, key));
  for (let n = 0; n < nodes.size; n += 1) {
    if (nodes.size > maxNodes) throw new TooManyStatesError(maxNodes);
    nodes.read(n, node);
    state.set(node.subarray(0, width));
    edgeStart.push(edgeTo.length);
    isChoice.push(node[width] ?? 0);
    const isFlow = node[width] === 0;
    if (isFlow) epoch.expand(state, (next, probability) => addEdge(next, true, probability));
    else eachStart(state, lengths, (next) => addEdge(next, false, 1));
    if (edgeStart.values[n] === edgeTo.length) throw modelError('nobody could start');
    ticks.push(isFlow ? epoch.ticks : 0);
    tokens.push(isFlow ? epoch.tokens : 0);
  }
  edgeStart.push(edgeTo.length);
  return {
    numNodes: nodes.size,
    isChoice: Uint8Array.from(isChoice.toArray()),
    ticks: ticks.toArray(),
    tokens: tokens.toArray(),
    edgeStart: edgeStart.toArray(),
    edgeTo: edgeTo.toArray(),
    edgeProbability: edgeProbability.toArray(),
    nodes,
  };
}
