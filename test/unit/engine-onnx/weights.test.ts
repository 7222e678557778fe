import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toFloat32 } from '../../../engine/onnx/checkpoint/to-float32.ts';
import { dequantizeInt4, INT4_BLOCK, quantizeInt4 } from '../../../engine/onnx/weights/int4.ts';
import { inverseFrequencies, ropeTables } from '../../../engine/onnx/weights/rope-tables.ts';
import { transpose } from '../../../engine/onnx/weights/transpose.ts';

const finite = fc.float({
  noNaN: true,
  noDefaultInfinity: true,
  min: Math.fround(-100),
  max: Math.fround(100),
});

describe('stored types', () => {
  const bytes = (...halves: number[]): Uint8Array => new Uint8Array(Uint16Array.from(halves).buffer);

  it('float16: normal, subnormal, signed zero, infinities, NaN', () => {
    const values = toFloat32(
      bytes(0x3c00, 0xc000, 0x3555, 0x0001, 0x8000, 0x7bff, 0x7c00, 0xfc00, 0x7e00),
      'F16',
    );
    const expected = [1, -2, 0.333251953125, 2 ** -24, -0, 65504, Infinity, -Infinity, NaN];
    expect([...values]).toEqual(expected);
  });

  it('bfloat16 is the upper half of float32', () => {
    expect([...toFloat32(bytes(0x3f80, 0xc049, 0x8000, 0x7f80), 'BF16')]).toEqual([
      1,
      -3.140625,
      -0,
      Infinity,
    ]);
  });

  it('float32, also from an odd offset', () => {
    const buffer = new Uint8Array(13);
    buffer.set(new Uint8Array(Float32Array.of(1.5, -2.25, 3).buffer), 1);
    expect([...toFloat32(buffer.subarray(1), 'F32')]).toEqual([1.5, -2.25, 3]);
  });
});

describe('transpose', () => {
  it('moves every element, for any shape', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 1, max: 70 }), (rows, columns) => {
        const source = Float32Array.from({ length: rows * columns }, (_, i) => i);
        const target = transpose(source, rows, columns);
        for (let r = 0; r < rows; r += 1)
          for (let c = 0; c < columns; c += 1) expect(target[c * rows + r]).toBe(r * columns + c);
      }),
      { numRuns: 20 },
    );
  });
});

describe('int4', () => {
  it('is off by at most half a step within a block, a whole one at the end that has no code', () => {
    const matrix = fc
      .record({ rows: fc.integer({ min: 1, max: 4 }), columns: fc.integer({ min: 1, max: 100 }) })
      .chain(({ rows, columns }) =>
        fc.record({
          rows: fc.constant(rows),
          columns: fc.constant(columns),
          values: fc.array(finite, { minLength: rows * columns, maxLength: rows * columns }),
        }),
      );
    fc.assert(
      fc.property(matrix, ({ rows, columns, values }) => {
        const weights = Float32Array.from(values);
        const quantized = quantizeInt4(weights, rows, columns);
        const restored = dequantizeInt4(quantized, rows, columns);
        for (let i = 0; i < weights.length; i += 1) {
          const block = Math.floor(i / columns) * quantized.blocks + Math.floor((i % columns) / INT4_BLOCK);
          const step = Math.abs(quantized.scales[block] ?? NaN);
          expect(Math.abs((weights[i] ?? NaN) - (restored[i] ?? NaN))).toBeLessThanOrEqual(step * 1.0001);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('keeps what it can represent exactly', () => {
    const weights = Float32Array.from({ length: 64 }, (_, i) => (((i % 16) - 8) / 8) * (i < 32 ? 2 : 0.5));
    expect(dequantizeInt4(quantizeInt4(weights, 1, 64), 1, 64)).toEqual(weights);
  });

  it('packs the earlier weight into the low nibble and pads a short block with zeros', () => {
    const { codes, scales, blocks } = quantizeInt4(Float32Array.of(-8, 7, 0), 1, 3);
    expect(blocks).toBe(1);
    expect([...scales]).toEqual([1]);
    expect([...codes.subarray(0, 3)]).toEqual([0xf0, 0x88, 0x88]);
  });
});

describe('rotary tables', () => {
  it('hold cos and sin of position × θ^(−2i/d)', () => {
    const { cos, sin } = ropeTables({ theta: 10_000 }, 16, 50);
    for (const [position, i] of [
      [0, 0],
      [1, 0],
      [7, 3],
      [49, 7],
    ] as const) {
      const angle = position * 10_000 ** ((-2 * i) / 16);
      expect(cos[position * 8 + i]).toBeCloseTo(Math.cos(angle), 5);
      expect(sin[position * 8 + i]).toBeCloseTo(Math.sin(angle), 5);
    }
  });

  it('llama3: short wavelengths stay, long ones are stretched, the rest lies between', () => {
    const plain = inverseFrequencies({ theta: 500_000 }, 64);
    const llama3 = { factor: 8, lowFreqFactor: 1, highFreqFactor: 4, originalMaxPositionEmbeddings: 8192 };
    const scaled = inverseFrequencies({ theta: 500_000, llama3 }, 64);
    const kinds = new Set<string>();
    for (const [i, frequency] of plain.entries()) {
      const ratio = (scaled[i] ?? NaN) / frequency;
      const wavelength = (2 * Math.PI) / frequency;
      if (wavelength < 2048) expect(ratio).toBe(1);
      else if (wavelength > 8192) expect(ratio).toBeCloseTo(1 / 8, 6);
      else expect(ratio > 1 / 8 && ratio < 1).toBe(true);
      kinds.add(wavelength < 2048 ? 'short' : wavelength > 8192 ? 'long' : 'between');
    }
    expect(kinds.size).toBe(3);
  });
});
