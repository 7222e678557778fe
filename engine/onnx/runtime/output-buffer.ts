import { float32Tensor, type RawTensor } from './ort-session.ts';

/** A growing buffer for one graph output of shape [1, count, width], with its tensors kept per count. */
export class OutputBuffer {
  readonly width: number;
  private readonly type: 'float32' | 'int64';
  private readonly tensors = new Map<number, RawTensor>();
  private capacity = 0;
  private buffer: Float32Array | BigInt64Array;

  constructor(type: 'float32' | 'int64', width: number) {
    this.type = type;
    this.width = width;
    this.buffer = this.allocate(0);
  }

  /** The tensor that a run with this many entries writes to. */
  tensor(count: number): RawTensor {
    if (count > this.capacity) {
      this.capacity = count;
      this.buffer = this.allocate(count * this.width);
      this.tensors.clear();
    }
    let tensor = this.tensors.get(count);
    if (tensor === undefined) {
      const data = this.buffer.subarray(0, count * this.width);
      tensor = { type: this.type, dims: [1, count, this.width], data, location: 'cpu' };
      this.tensors.set(count, tensor);
    }
    return tensor;
  }

  /**
   * These entries of numbers as a matrix [entries, width], for another graph to read; holds until the next run. Where
   * they lie in order from the first one on nothing is copied.
   */
  matrix(entries: readonly number[]): RawTensor {
    const { width } = this;
    const areFirst = entries.every((entry, i) => entry === i);
    const data = areFirst
      ? (this.buffer as Float32Array).subarray(0, entries.length * width)
      : new Float32Array(entries.length * width);
    if (!areFirst) entries.forEach((entry, i) => data.set(this.floats(entry), i * width));
    return float32Tensor(data, [entries.length, width]);
  }

  /** Takes over a result that the runtime allocated itself. */
  copyFrom(result: RawTensor | undefined): void {
    const data = result?.data;
    if (data instanceof Float32Array && this.buffer instanceof Float32Array) this.buffer.set(data);
    else if (data instanceof BigInt64Array && this.buffer instanceof BigInt64Array) this.buffer.set(data);
    else throw new Error('the runtime returned no output of this type');
  }

  /** A view of one entry; copy it before the next run. */
  floats(entry: number): Float32Array {
    return (this.buffer as Float32Array).subarray(entry * this.width, (entry + 1) * this.width);
  }

  scalar(entry: number): number {
    return (this.buffer as Float32Array)[entry * this.width] ?? NaN;
  }

  /** One entry of ids, without going through BigInt. */
  ids(entry: number): Int32Array {
    const { buffer, width } = this;
    const halves = new Int32Array(buffer.buffer, buffer.byteOffset + entry * width * 8, width * 2);
    const ids = new Int32Array(width);
    for (let i = 0; i < width; i += 1) ids[i] = halves[i * 2] as number;
    return ids;
  }

  private allocate(size: number): Float32Array | BigInt64Array {
    return this.type === 'int64' ? new BigInt64Array(size) : new Float32Array(size);
  }
}
