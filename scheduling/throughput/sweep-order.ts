import type { Chain } from './build-chain.ts';

/**
 * The states in reverse postorder of a depth-first search from state 0: an edge that leads backwards in this order
 * closes a cycle. Between two starts of the slowest model the remaining time only falls, so that nearly all edges
 * lead forwards.
 */
export function sweepOrder({ numStates, edgeStart, edgeTo }: Chain): Int32Array {
  const order = new Int32Array(numStates);
  const cursor = edgeStart.slice(0, numStates);
  const isSeen = new Uint8Array(numStates);
  const stack = new Int32Array(numStates);
  let depth = 1;
  let free = numStates;
  isSeen[0] = 1;
  while (depth > 0) {
    const state = stack[depth - 1] ?? 0;
    const edge = cursor[state] ?? 0;
    if (edge === edgeStart[state + 1]) {
      free -= 1;
      order[free] = state;
      depth -= 1;
      continue;
    }
    cursor[state] = edge + 1;
    const to = edgeTo[edge] ?? 0;
    if (isSeen[to] === 1) continue;
    isSeen[to] = 1;
    stack[depth] = to;
    depth += 1;
  }
  return order;
}
