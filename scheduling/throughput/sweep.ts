import type { Chain } from './build-chain.ts';
import { sweepOrder } from './sweep-order.ts';

/** A self-loop this likely has no other edge beside it. */
const CERTAIN = 1 - 1e-15;

/** A chain with its states renumbered in the order of a sweep. */
interface OrderedChain {
  edgeStart: Int32Array;
  edgeTo: Int32Array;
  edgeProbability: Float64Array;
  /** Expected visits in a row: 1 / (1 − probability of staying). */
  repeats: Float64Array;
}

/**
 * One sweep moves probability mass along all edges in {@link sweepOrder}: what follows a forward edge moves on in the
 * same sweep, what follows a backward edge waits for the next one at its *entry*. A sweep is thus a step of the
 * chain watched only at the entries (a censored chain), which has few states and mixes fast. Mass is conserved.
 */
export class Sweep {
  readonly numEntries: number;
  private readonly order: Int32Array;
  private readonly ordered: OrderedChain;
  private readonly entries: Int32Array;
  private readonly mass: Float64Array;
  /** Visits per state in the last sweep: the stationary law once the mass settles. */
  private readonly visits: Float64Array;

  constructor(chain: Chain) {
    this.order = sweepOrder(chain);
    const rank = new Int32Array(chain.numStates);
    this.order.forEach((state, i) => (rank[state] = i));
    this.ordered = reorder(chain, this.order, rank);
    this.entries = entriesOf(this.ordered, rank[0] ?? 0);
    this.numEntries = this.entries.length;
    this.mass = new Float64Array(chain.numStates);
    this.visits = new Float64Array(chain.numStates);
  }

  /** All mass at the initial state. */
  initial(): Float64Array {
    const mass = new Float64Array(this.numEntries);
    mass[0] = 1; // state 0 comes first in the order
    return mass;
  }

  /** One sweep: mass at the entries → mass at the entries. `from` and `to` may be the same array. */
  run(from: Float64Array, to: Float64Array): void {
    const { mass, visits, entries } = this;
    const { edgeStart, edgeTo, edgeProbability, repeats } = this.ordered;
    mass.fill(0);
    for (let i = 0; i < entries.length; i += 1) mass[entries[i] ?? 0] = from[i] ?? 0;
    let edge = 0;
    for (let s = 0; s < mass.length; s += 1) {
      const end = edgeStart[s + 1] ?? 0;
      const here = (mass[s] ?? 0) * (repeats[s] ?? 1);
      visits[s] = here;
      mass[s] = 0;
      if (here === 0) edge = end;
      for (; edge < end; edge += 1) {
        const target = edgeTo[edge] ?? 0;
        mass[target] = (mass[target] ?? 0) + here * (edgeProbability[edge] ?? 0);
      }
    }
    for (let i = 0; i < entries.length; i += 1) to[i] = mass[entries[i] ?? 0] ?? 0;
  }

  /** The law of the states during the last sweep, in the chain's own numbering; it sums to 1. */
  law(): Float64Array {
    let total = 0;
    for (const visits of this.visits) total += visits;
    const law = new Float64Array(this.visits.length);
    this.order.forEach((state, i) => (law[state] = (this.visits[i] ?? 0) / total));
    return law;
  }
}

/** Edges in the order of the sweep. Self-loops become repeated visits, except certain ones. */
function reorder(chain: Chain, order: Int32Array, rank: Int32Array): OrderedChain {
  const numEdges = chain.edgeTo.length;
  const edgeStart = new Int32Array(order.length + 1);
  const edgeTo = new Int32Array(numEdges);
  const edgeProbability = new Float64Array(numEdges);
  const repeats = new Float64Array(order.length).fill(1);
  let next = 0;
  for (let s = 0; s < order.length; s += 1) {
    const state = order[s] ?? 0;
    const end = chain.edgeStart[state + 1] ?? 0;
    let stay = 0;
    for (let edge = chain.edgeStart[state] ?? 0; edge < end; edge += 1) {
      const to = chain.edgeTo[edge] ?? 0;
      const probability = chain.edgeProbability[edge] ?? 0;
      if (to === state && probability < CERTAIN) {
        stay += probability;
        continue;
      }
      edgeTo[next] = rank[to] ?? 0;
      edgeProbability[next] = probability;
      next += 1;
    }
    repeats[s] = 1 / (1 - stay);
    edgeStart[s + 1] = next;
  }
  return { edgeStart, edgeTo, edgeProbability, repeats };
}

/** The first state, and all states that an edge from a later one (or itself) leads to. */
function entriesOf({ edgeStart, edgeTo }: OrderedChain, first: number): Int32Array {
  const numStates = edgeStart.length - 1;
  const isEntry = new Uint8Array(numStates);
  isEntry[first] = 1;
  for (let s = 0; s < numStates; s += 1) {
    const end = edgeStart[s + 1] ?? 0;
    for (let edge = edgeStart[s] ?? 0; edge < end; edge += 1) {
      const to = edgeTo[edge] ?? 0;
      if (to <= s) isEntry[to] = 1;
    }
  }
  const entries: number[] = [];
  for (let s = 0; s < numStates; s += 1) if (isEntry[s] === 1) entries.push(s);
  return Int32Array.from(entries);
}
