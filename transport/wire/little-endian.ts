import { endianness } from 'node:os';

const HOST_IS_BIG_ENDIAN = endianness() === 'BE';

/** The bytes of a typed array of 4-byte elements, little-endian on every host. Takes the array over. */
export function toLittleEndian(values: Int32Array<ArrayBuffer> | Float32Array<ArrayBuffer>): Uint8Array {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  return HOST_IS_BIG_ENDIAN ? bytes.swap32() : bytes;
}

/** An aligned copy with the host's byte order: decoded bytes lie unaligned inside their frame. */
function alignedCopy(bytes: Uint8Array): ArrayBuffer {
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  if (HOST_IS_BIG_ENDIAN) Buffer.from(copy.buffer).swap32();
  return copy.buffer;
}

export const readInt32s = (bytes: Uint8Array): Int32Array => new Int32Array(alignedCopy(bytes));

export const readFloat32s = (bytes: Uint8Array): Float32Array => new Float32Array(alignedCopy(bytes));

/** A plain list. `Array.from` walks the iterator and takes several times as long. */
export function toList(values: Uint8Array | Int32Array | Float32Array): number[] {
  const list = new Array<number>(values.length);
  for (let i = 0; i < values.length; i += 1) list[i] = values[i] ?? NaN;
  return list;
}
