import { TokenrailError } from '../../core/errors.ts';
import type { Chain } from './build-chain.ts';
import { nearlyFixedVector } from './krylov.ts';
import { Sweep } from './sweep.ts';

/** Change of the mass at the entries, in L1, below which the distribution has settled. */
export const TOLERANCE = 1e-12;
const PLAIN_SWEEPS = 8;
const KRYLOV_DIMENSIONS = 10;
const MAX_ROUNDS = 400;

/**
 * The stationary distribution of the embedded chain that is reached from its first state. Transient states get
 * (next to) nothing. Sweeps in the order of the flow (block Gauss–Seidel), sped up by Krylov projections.
 *
 * @param tolerance L1 change of the distribution over one sweep
 * @throws TokenrailError `internal` where it does not settle
 */
export function stationary(chain: Chain, tolerance = TOLERANCE): Float64Array {
  const sweep = new Sweep(chain);
  const apply = (from: Float64Array, to: Float64Array): void => sweep.run(from, to);
  let mass = sweep.initial();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    for (let i = 0; i < PLAIN_SWEEPS; i += 1) {
      const before = mass.slice();
      apply(before, mass);
      if (difference(before, mass) < tolerance) return sweep.law();
    }
    mass = asDistribution(nearlyFixedVector(apply, mass, KRYLOV_DIMENSIONS));
  }
  throw new TokenrailError('internal', 'throughput model: the distribution does not settle');
}

function difference(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += Math.abs((a[i] ?? 0) - (b[i] ?? 0));
  return sum;
}

/** A projection has either sign, and rounding may leave tiny parts of the wrong one. */
function asDistribution(vector: Float64Array): Float64Array {
  let sum = 0;
  for (const value of vector) sum += value;
  const sign = Math.sign(sum);
  const mass = vector.map((value) => Math.max(0, sign * value));
  let total = 0;
  for (const value of mass) total += value;
  return mass.map((value) => value / total);
}
