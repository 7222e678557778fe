import type { StoredDtype } from './safetensors-file.ts';

/** Stored little-endian bytes as float32 values. F32 bytes are taken over without a copy where aligned. */
export function toFloat32(bytes: Uint8Array, dtype: StoredDtype): Float32Array {
  switch (dtype) {
    case 'F32':
      return asFloat32(bytes);
    case 'BF16':
      return fromBfloat16(asUint16(bytes));
    case 'F16':
      return fromFloat16(asUint16(bytes));
  }
}

function asFloat32(bytes: Uint8Array): Float32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Float32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
}

function asUint16(bytes: Uint8Array): Uint16Array {
  const aligned = bytes.byteOffset % 2 === 0 ? bytes : bytes.slice();
  return new Uint16Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 2);
}

/** bfloat16 is the upper half of a float32. */
function fromBfloat16(halves: Uint16Array): Float32Array {
  const words = new Uint32Array(halves.length);
  for (let i = 0; i < halves.length; i += 1) words[i] = (halves[i] as number) << 16;
  return new Float32Array(words.buffer);
}

function fromFloat16(halves: Uint16Array): Float32Array {
  const table = float16Table();
  const values = new Float32Array(halves.length);
  for (let i = 0; i < halves.length; i += 1) values[i] = table[halves[i] as number] as number;
  return values;
}

let cachedTable: Float32Array | undefined;

/** All 65,536 halves: looking them up is faster than decoding bits per element. */
function float16Table(): Float32Array {
  cachedTable ??= Float32Array.from({ length: 0x1_0000 }, (_, half) => decodeFloat16(half));
  return cachedTable;
}

function decodeFloat16(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
