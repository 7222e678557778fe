/** Weights per scale. */
export const INT4_BLOCK = 32;
const BLOB_BYTES = INT4_BLOCK / 2;
/** The code that stands for 0; `MatMulNBits` assumes it where no zero points are given. */
const ZERO_CODE = 8;
/** Blocks below this are zero: their scale would not be a normal float32. */
const SMALLEST_EXTREME = 1e-30;

export interface Int4Matrix {
  /** [rows, blocks, 16] bytes; the earlier of two weights is the low nibble. */
  codes: Uint8Array;
  /** [rows × blocks] scales; weight = (code − 8) × scale. */
  scales: Float32Array;
  blocks: number;
}

/**
 * Quantizes a row-major [rows, columns] matrix along its columns (the input features) in the layout of
 * ONNX Runtime's `MatMulNBits` (com.microsoft): 4 bits, symmetric, blocks of 32. The weight of largest
 * magnitude of each block gets code 0 (−8 × scale), so that no range is lost to the sign. A last, short
 * block is padded with zeros.
 */
export function quantizeInt4(weights: Float32Array, rows: number, columns: number): Int4Matrix {
  const blocks = Math.ceil(columns / INT4_BLOCK);
  const codes = new Uint8Array(rows * blocks * BLOB_BYTES).fill(ZERO_CODE | (ZERO_CODE << 4));
  const scales = new Float32Array(rows * blocks);
  for (let row = 0; row < rows; row += 1) {
    for (let block = 0; block < blocks; block += 1) {
      const start = row * columns + block * INT4_BLOCK;
      const length = Math.min(INT4_BLOCK, columns - block * INT4_BLOCK);
      const index = row * blocks + block;
      scales[index] = quantizeBlock(weights, start, length, codes, index * BLOB_BYTES);
    }
  }
  return { codes, scales, blocks };
}

function quantizeBlock(
  weights: Float32Array,
  start: number,
  length: number,
  codes: Uint8Array,
  codeStart: number,
): number {
  let extreme = 0;
  for (let i = start; i < start + length; i += 1) {
    const weight = weights[i] as number;
    if (Math.abs(weight) > Math.abs(extreme)) extreme = weight;
  }
  if (Math.abs(extreme) < SMALLEST_EXTREME) return 1; // all codes mean zero; any scale will do
  const scale = Math.fround(extreme / -ZERO_CODE);
  const inverse = 1 / scale;
  for (let i = 0; i < length; i += 1) {
    const code = Math.min(15, Math.max(0, Math.round((weights[start + i] as number) * inverse) + ZERO_CODE));
    const at = codeStart + (i >> 1);
    codes[at] = i & 1 ? ((codes[at] as number) & 0x0f) | (code << 4) : ((codes[at] as number) & 0xf0) | code;
  }
  return scale;
}

/** The matrix that the codes stand for, row-major [rows, columns]. */
export function dequantizeInt4(matrix: Int4Matrix, rows: number, columns: number): Float32Array {
  const weights = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const block = row * matrix.blocks + Math.floor(column / INT4_BLOCK);
      const within = column % INT4_BLOCK;
      const byte = matrix.codes[block * BLOB_BYTES + (within >> 1)] as number;
      const code = within & 1 ? byte >> 4 : byte & 0x0f;
      weights[row * columns + column] = (code - ZERO_CODE) * (matrix.scales[block] as number);
    }
  }
  return weights;
}
