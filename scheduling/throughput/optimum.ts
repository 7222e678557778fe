import type { StartPolicy } from '../policy.ts';
import { buildChain } from './build-chain.ts';
import { completeSpec, modelError, type ChainSpec, type CompleteSpec } from './chain-spec.ts';
import { buildDecisionGraph, nodeKey, type DecisionGraph } from './decision-graph.ts';
import { policyStarter } from './policy-starter.ts';
import type { Starter } from './starter.ts';
import { sweepOrder } from './sweep-order.ts';
import { solveChain, type Throughput } from './throughput.ts';

/** Choices and flows together, above which the optimum is not computed: a minute or so. */
export const MAX_OPTIMUM_NODES = 1_500_000;
const MAX_ROUNDS = 60;
const MAX_SWEEPS = 5_000;
/** Change of a relative value in one sweep, in tokens, below which the values have settled. */
const VALUE_TOLERANCE = 1e-9;
/** Gain in tokens below which a choice is left as it is: rounding must not turn it back and forth. */
const IMPROVEMENT = 1e-7;

export interface OptimumOptions {
  /** A good policy to begin with, one per model: fewer rounds. */
  policies: readonly StartPolicy[];
  /** Default {@link MAX_OPTIMUM_NODES}. */
  maxNodes?: number;
}

/**
 * The most tokens per second that any policy of the kind "start now with everything, or wait" can give, by Howard's
 * policy iteration for the average reward of a semi-Markov decision process: solve the chain of the present choices
 * exactly for T, sweep h = R − T τ + Σ p h′ for the relative values, choose better, until no choice is.
 *
 * @throws TokenrailError `config_invalid` for a wrong specification; TooManyStatesError above `maxNodes`
 */
export function optimum(spec: ChainSpec, options: OptimumOptions): Throughput {
  const complete = completeSpec(spec);
  const graph = buildDecisionGraph(complete, options.maxNodes ?? MAX_OPTIMUM_NODES);
  const order = sweepOrder({ ...graph, numStates: graph.numNodes, numModels: 0, states: new Int32Array(0) });
  const choice = firstChoices(graph, policyStarter(complete, options.policies), complete);
  const value = new Float64Array(graph.numNodes);
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const found = solveChain(complete, buildChain(complete, starterOf(graph, choice, complete)));
    const tokensPerTick = (found.tokensPerSecond * complete.quantumMs) / 1000;
    settle(graph, order, choice, value, tokensPerTick);
    if (!improve(graph, choice, value)) return found;
  }
  throw modelError('the optimum does not settle');
}

/** The edge that a policy takes at each choice. */
function firstChoices(graph: DecisionGraph, start: Starter, spec: CompleteSpec): Int32Array {
  const width = 3 * spec.stepMs.length;
  const [state, key, node] = [new Int32Array(width), new Int32Array(width + 1), new Int32Array(width + 1)];
  const choice = new Int32Array(graph.numNodes).fill(-1);
  for (let n = 0; n < graph.numNodes; n += 1) {
    if (graph.isChoice[n] === 0) continue;
    graph.nodes.read(n, node);
    state.set(node.subarray(0, width));
    start(state);
    const target = graph.nodes.numberOf(nodeKey(state, false, key));
    const first = graph.edgeStart[n] ?? 0;
    const index = graph.edgeTo.subarray(first, graph.edgeStart[n + 1]).indexOf(target);
    choice[n] = first + Math.max(0, index);
  }
  return choice;
}

function starterOf(graph: DecisionGraph, choice: Int32Array, spec: CompleteSpec): Starter {
  const width = 3 * spec.stepMs.length;
  const [key, node] = [new Int32Array(width + 1), new Int32Array(width + 1)];
  return (state) => {
    const n = graph.nodes.numberOf(nodeKey(state, true, key));
    graph.nodes.read(graph.edgeTo[choice[n] ?? 0] ?? 0, node);
    state.set(node.subarray(0, width));
  };
}

/**
 * Relative values under the present choices: Gauss–Seidel against the flow, so that one sweep covers a whole cycle.
 *
 * They need not settle: choices in states that are never visited from the start may keep to themselves there, with another
 * throughput. Their values then grow or fall with every sweep, and by the last one {@link improve} leads away from those that
 * are worse and towards those that are better, as Howard's iteration for several classes does.
 */
function settle(
  graph: DecisionGraph,
  order: Int32Array,
  choice: Int32Array,
  value: Float64Array,
  tokensPerTick: number,
): void {
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep += 1) {
    let largest = -Infinity;
    let smallest = Infinity;
    for (let i = order.length - 1; i >= 0; i -= 1) {
      const n = order[i] ?? 0;
      const before = value[n] ?? 0;
      const now = valueOf(graph, choice, value, n, tokensPerTick);
      value[n] = now;
      if (graph.isChoice[n] === 1) continue;
      largest = Math.max(largest, now - before);
      smallest = Math.min(smallest, now - before);
    }
    if (largest - smallest < VALUE_TOLERANCE) return;
  }
}

function valueOf(
  graph: DecisionGraph,
  choice: Int32Array,
  value: Float64Array,
  n: number,
  tokensPerTick: number,
): number {
  if (graph.isChoice[n] === 1) return value[graph.edgeTo[choice[n] ?? 0] ?? 0] ?? 0;
  let sum = (graph.tokens[n] ?? 0) - tokensPerTick * (graph.ticks[n] ?? 0);
  const end = graph.edgeStart[n + 1] ?? 0;
  for (let edge = graph.edgeStart[n] ?? 0; edge < end; edge += 1)
    sum += (graph.edgeProbability[edge] ?? 0) * (value[graph.edgeTo[edge] ?? 0] ?? 0);
  return sum;
}

/** Takes the best edge of each choice. False where none is better than the present one. */
function improve(graph: DecisionGraph, choice: Int32Array, value: Float64Array): boolean {
  let isBetter = false;
  for (let n = 0; n < graph.numNodes; n += 1) {
    if (graph.isChoice[n] === 0) continue;
    const worth = (edge: number): number => value[graph.edgeTo[edge] ?? 0] ?? 0;
    let best = choice[n] ?? 0;
    for (let edge = graph.edgeStart[n] ?? 0; edge < (graph.edgeStart[n + 1] ?? 0); edge += 1)
      if (worth(edge) > worth(best) + IMPROVEMENT) best = edge;
    if (best !== choice[n]) isBetter = true;
    choice[n] = best;
  }
  return isBetter;
}
