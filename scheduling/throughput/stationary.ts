import { TokenrailError } from '../../core/errors.ts';
import type { Chain } from './build-chain.ts';
import { eliminated } from './elimination.ts';
import { nearlyFixedVector } from './krylov.ts';
import { Sweep } from './sweep.ts';

/** Distance from the stationary distribution, in L1, at which one has settled. */
export const TOLERANCE = 1e-12;
const PLAIN_SWEEPS = 8;
const KRYLOV_DIMENSIONS = 10;
const MAX_ROUNDS = 400;
/**
 * What changes by d per sweep and shrinks by the factor r is still d / (1 − r) away. Slower than this factor cannot be
 * told from rounding.
 */
const SLOWEST = 1 - 1e-3;
/** Chains that take no more operations than this are solved by elimination at once. */
const QUICK_WORK = 1e6;
/** A chain that has not settled after this many rounds mixes slowly: elimination, where it is affordable at all. */
const PATIENT_ROUNDS = 3;
const AFFORDABLE_WORK = 5e7;
/** After this many rounds the change itself must do. */
const STRICT_ROUNDS = 8;

/**
 * The stationary distribution of the embedded chain that is reached from its first state. Transient states get
 * (next to) nothing. Sweeps in the order of the flow (block Gauss–Seidel), sped up by Krylov projections; chains that fall
 * into phases they hardly ever leave (p near 1) are solved by elimination.
 *
 * @param tolerance how far from it the distribution may be, in L1
 * @throws TokenrailError `internal` where it does not settle
 */
export function stationary(chain: Chain, tolerance = TOLERANCE): Float64Array {
  const sweep = new Sweep(chain);
  const apply = (from: Float64Array, to: Float64Array): void => sweep.run(from, to);
  const work = eliminationWork(chain, sweep);
  const quick = work <= QUICK_WORK ? byElimination(sweep) : undefined;
  if (quick) return quick;
  let mass = sweep.initial();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (settles(apply, mass, tolerance, round < STRICT_ROUNDS)) return sweep.law();
    if (round === PATIENT_ROUNDS && work <= AFFORDABLE_WORK) {
      const exact = byElimination(sweep);
      if (exact) return exact;
    }
    mass = asDistribution(nearlyFixedVector(apply, mass, KRYLOV_DIMENSIONS));
  }
  throw new TokenrailError('internal', 'throughput model: the distribution does not settle');
}

/** Sweeps a few times; whether that has come within the tolerance. */
function settles(
  apply: (from: Float64Array, to: Float64Array) => void,
  mass: Float64Array,
  tolerance: number,
  isStrict: boolean,
): boolean {
  let last = Infinity;
  for (let i = 0; i < PLAIN_SWEEPS; i += 1) {
    const before = mass.slice();
    apply(before, mass);
    const change = difference(before, mass);
    const factor = isStrict ? Math.min(change / last, SLOWEST) : 0;
    if (change === 0 || (i > 0 && change < tolerance * (1 - factor))) return true;
    last = change;
  }
  return false;
}

/** Operations of {@link byElimination}: a sweep per entry, and a third of the cube. */
function eliminationWork({ numStates, edgeTo }: Chain, { numEntries: n }: Sweep): number {
  return n * (numStates + edgeTo.length) + n ** 3 / 3;
}

/** Undefined where the entries do not all lead to each other. */
function byElimination(sweep: Sweep): Float64Array | undefined {
  const n = sweep.numEntries;
  const matrix = new Float64Array(n * n);
  const unit = new Float64Array(n);
  for (let i = 0; i < n; i += 1) {
    unit[i] = 1;
    sweep.run(unit, matrix.subarray(i * n, (i + 1) * n));
    unit[i] = 0;
  }
  const mass = eliminated(matrix, n);
  if (!mass) return undefined;
  sweep.run(mass, mass);
  return sweep.law();
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
