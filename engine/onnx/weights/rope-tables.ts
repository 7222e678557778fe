import type { Llama3RopeScaling, RopeConfig } from '../checkpoint/model-config.ts';

/** Tables of cos and sin, each [positions, headDim / 2] row-major. */
export interface RopeTables {
  cos: Float32Array;
  sin: Float32Array;
}

/** Angles in float32 at every step, as the reference implementation computes them: long contexts depend on it. */
export function ropeTables(rope: RopeConfig, headDim: number, positions: number): RopeTables {
  const frequencies = inverseFrequencies(rope, headDim);
  const half = headDim / 2;
  const cos = new Float32Array(positions * half);
  const sin = new Float32Array(positions * half);
  for (let position = 0; position < positions; position += 1) {
    for (let i = 0; i < half; i += 1) {
      const angle = Math.fround(position * (frequencies[i] as number));
      cos[position * half + i] = Math.cos(angle);
      sin[position * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** θ^(−2i/d), scaled where the configuration says so. */
export function inverseFrequencies(rope: RopeConfig, headDim: number): Float32Array {
  const frequencies = new Float32Array(headDim / 2);
  for (let i = 0; i < frequencies.length; i += 1) {
    frequencies[i] = 1 / Math.fround(rope.theta ** Math.fround((2 * i) / headDim));
  }
  return rope.llama3 === undefined ? frequencies : scaleLlama3(frequencies, rope.llama3);
}

/**
 * Llama 3.1: long wavelengths are stretched by `factor`, short ones kept, those between interpolated
 * (transformers, `_compute_llama3_parameters`).
 */
function scaleLlama3(frequencies: Float32Array, scaling: Llama3RopeScaling): Float32Array {
  const { factor, lowFreqFactor, highFreqFactor, originalMaxPositionEmbeddings: original } = scaling;
  return frequencies.map((frequency) => {
    const wavelength = (2 * Math.PI) / frequency;
    if (wavelength < original / highFreqFactor) return frequency;
    if (wavelength > original / lowFreqFactor) return frequency / factor;
    const smooth = (original / wavelength - lowFreqFactor) / (highFreqFactor - lowFreqFactor);
    return ((1 - smooth) * frequency) / factor + smooth * frequency;
  });
}
