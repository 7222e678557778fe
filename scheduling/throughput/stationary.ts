import { TokenrailError } from '../../core/errors.ts';
import type { Chain } from './build-chain.ts';

const TOLERANCE = 1e-12;
const MAX_SWEEPS = 100_000;

/**
 * The stationary distribution of the embedded chain, by Gauss–Seidel sweeps over incoming edges until the
 * distribution changes by less than 1e-12 in L1. Transient states get 0.
 *
 * @throws TokenrailError `internal` where that takes too many sweeps: nearly every request goes to the other model
 *   each time (p ≈ 0.9), and the chain falls into phases that it hardly ever leaves
 */
export function stationary(chain: Chain): Float64Array {
  const { numStates, incomingStart, incomingFrom, incomingProbability } = chain;
  const pi = new Float64Array(numStates).fill(1 / numStates);
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep += 1) {
    let change = 0;
    let total = 0;
    for (let s = 0; s < numStates; s += 1) {
      let inflow = 0;
      let stay = 0;
      const end = incomingStart[s + 1] ?? 0;
      for (let e = incomingStart[s] ?? 0; e < end; e += 1) {
        const from = incomingFrom[e] ?? 0;
        const probability = incomingProbability[e] ?? 0;
        if (from === s) stay += probability;
        else inflow += (pi[from] ?? 0) * probability;
      }
      // A state that only leads to itself keeps what it has: the whole chain then.
      const value = stay >= 1 ? (pi[s] ?? 0) : inflow / (1 - stay);
      change += Math.abs(value - (pi[s] ?? 0));
      pi[s] = value;
      total += value;
    }
    for (let s = 0; s < numStates; s += 1) pi[s] = (pi[s] ?? 0) / total;
    if (change / total < TOLERANCE) return pi;
  }
  throw new TokenrailError('internal', 'throughput model: the distribution does not settle');
}
