import type { WeightSource } from './weight-source.ts';

/** Standard deviation of initial weights in the supported families (`initializer_range`). */
const WEIGHT_STD = 0.02;
const UNIFORM_HALF_WIDTH = WEIGHT_STD * Math.sqrt(3);

/**
 * Random weights from shapes alone. A tensor depends only on its name and the seed. Norm gains are 1 and
 * biases 0, as in a fresh model; everything else is uniform with the usual standard deviation.
 */
export class DummyWeights implements WeightSource {
  readonly hasOwnHead: boolean;
  private readonly seed: number;

  constructor(seed: number, hasOwnHead: boolean) {
    this.seed = seed;
    this.hasOwnHead = hasOwnHead;
  }

  read(name: string, shape: readonly number[]): Float32Array {
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
    if (name.endsWith('norm.weight')) values.fill(1);
    else if (!name.endsWith('.bias')) fillUniform(values, hash(name, this.seed));
    return values;
  }

  close(): void {}
}

/** xorshift32 (Marsaglia, "Xorshift RNGs", 2003): these numbers need to be fast, not good. */
function fillUniform(values: Float32Array, seed: number): void {
  let state = seed | 0 || 1;
  const scale = UNIFORM_HALF_WIDTH / 0x8000_0000;
  for (let i = 0; i < values.length; i += 1) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    values[i] = state * scale;
  }
}

/** FNV-1a over the name, started from the seed. */
function hash(name: string, seed: number): number {
  let state = (0x811c9dc5 ^ seed) >>> 0;
  for (let i = 0; i < name.length; i += 1) state = Math.imul(state ^ name.charCodeAt(i), 0x01000193) >>> 0;
  return state;
}
