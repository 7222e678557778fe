/**
 * Counter-based random numbers (Philox 4x32-10; Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3",
 * SC'11). A draw is a pure function of its key: no batch, replica, retry or arrival order can change it.
 */

/** What a draw is for. Each purpose is a stream of its own. */
export type DrawPurpose = 'sample' | 'route' | 'admission' | 'simulation';

const PURPOSE_CODE: Record<DrawPurpose, number> = { sample: 1, route: 2, admission: 3, simulation: 4 };

export interface DrawKey {
  /** Any finite integer; integers beyond 2^53 are taken as the double nearest to them. */
  seed: number;
  /** Position in the sequence (index of the token that the draw decides), 0 to 2^32 − 1. */
  position: number;
  /** Model id, 1..M; 0 where no model is meant. */
  model: number;
  purpose: DrawPurpose;
}

const MULTIPLIER_0 = 0xd2511f53;
const MULTIPLIER_1 = 0xcd9e8d57;
const WEYL_0 = 0x9e3779b9;
const WEYL_1 = 0xbb67ae85;

/** High 32 bits of the 64-bit product of two unsigned 32-bit integers. */
function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const cross = aLow * bHigh + (middle & 0xffff);
  return (aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(cross / 0x10000)) >>> 0;
}

/** One Philox block: four counter words and two key words give four random words (all unsigned 32-bit). */
export function philox4x32(
  counter: readonly [number, number, number, number],
  key: readonly [number, number],
): [number, number, number, number] {
  let [c0, c1, c2, c3] = counter;
  let [k0, k1] = key;
  for (let round = 0; round < 10; round += 1) {
    const high0 = multiplyHigh(MULTIPLIER_0, c0);
    const low0 = Math.imul(MULTIPLIER_0, c0) >>> 0;
    const high1 = multiplyHigh(MULTIPLIER_1, c2);
    const low1 = Math.imul(MULTIPLIER_1, c2) >>> 0;
    c0 = (high1 ^ c1 ^ k0) >>> 0;
    c1 = low1;
    c2 = (high0 ^ c3 ^ k1) >>> 0;
    c3 = low0;
    k0 = (k0 + WEYL_0) >>> 0;
    k1 = (k1 + WEYL_1) >>> 0;
  }
  return [c0, c1, c2, c3];
}

/** A number in [0, 1) with 53 random bits, determined by `key` alone. */
export function uniform(key: DrawKey): number {
  const seed = Math.trunc(key.seed);
  const seedLow = seed >>> 0; // ToUint32: the seed modulo 2^32, also for negative seeds
  const seedHigh = Math.floor(seed / 0x1_0000_0000) >>> 0;
  const [a, b] = philox4x32(
    [key.position >>> 0, key.model >>> 0, PURPOSE_CODE[key.purpose], 0],
    [seedLow, seedHigh],
  );
  return ((a >>> 5) * 0x400_0000 + (b >>> 6)) / 0x20_0000_0000_0000;
}

/** A source of fresh, unpredictable numbers in [0, 1): ids and the seeds of requests that bring none. */
export type RandomSource = () => number;
