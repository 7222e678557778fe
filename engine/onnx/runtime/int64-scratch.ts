import type { RawTensor } from './ort-session.ts';

/** A reusable int64 vector. Values are written as 32-bit halves: BigInt would allocate per element. */
export class Int64Scratch {
  private readonly leadingDims: readonly number[];
  private halves = new Int32Array(0);
  private tensors = new Map<number, RawTensor>();

  /** @param leadingDims dimensions of size 1 before the vector's own */
  constructor(leadingDims: readonly number[] = []) {
    this.leadingDims = leadingDims;
  }

  /** A tensor over the first `length` elements. Fill them with {@link Int64Scratch.set}. */
  tensor(length: number): RawTensor {
    if (length * 2 > this.halves.length) {
      this.halves = new Int32Array(Math.max(length, 64) * 4);
      this.tensors.clear();
    }
    let tensor = this.tensors.get(length);
    if (tensor === undefined) {
      const data = new BigInt64Array(this.halves.buffer, 0, length);
      tensor = { type: 'int64', dims: [...this.leadingDims, length], data, location: 'cpu' };
      this.tensors.set(length, tensor);
    }
    return tensor;
  }

  /** Sets a non-negative value below 2^31; the high half stays zero. */
  set(index: number, value: number): void {
    this.halves[index * 2] = value;
  }
}
