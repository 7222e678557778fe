import { closeSync, openSync, readSync, writeSync } from 'node:fs';

/** Element types by their number in ONNX's TensorProto. */
export const ONNX_TYPE = { float32: 1, uint8: 2, int32: 6, int64: 7 } as const;

/** Page size: the runtime maps tensors straight from the file, and misaligned ones give silent garbage. */
const ALIGNMENT_BYTES = 4096;
const MAX_IO_BYTES = 1 << 30;

export interface StoredTensor {
  dataType: number;
  dims: readonly number[];
  offset: number;
  lengthBytes: number;
}

/** A file of raw tensors, written once and shared by all graphs as external data. */
export class WeightsFile {
  readonly path: string;
  readonly tensors = new Map<string, StoredTensor>();
  private readonly fd: number;
  private sizeBytes = 0;

  constructor(path: string) {
    this.path = path;
    this.fd = openSync(path, 'wx+', 0o600);
  }

  get totalBytes(): number {
    return this.sizeBytes;
  }

  add(name: string, dims: readonly number[], data: Float32Array | Uint8Array): void {
    const offset = Math.ceil(this.sizeBytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES;
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    let done = 0;
    while (done < bytes.byteLength) {
      done += writeSync(this.fd, bytes, done, Math.min(bytes.byteLength - done, MAX_IO_BYTES), offset + done);
    }
    const dataType = data instanceof Float32Array ? ONNX_TYPE.float32 : ONNX_TYPE.uint8;
    this.tensors.set(name, { dataType, dims, offset, lengthBytes: bytes.byteLength });
    this.sizeBytes = offset + bytes.byteLength;
  }

  get(name: string): StoredTensor {
    const tensor = this.tensors.get(name);
    if (tensor === undefined) throw new Error(`no weight named ${name}`);
    return tensor;
  }

  /** One row of a float32 matrix. Works after the file's name is gone: the descriptor stays open. */
  readRow(name: string, row: number): Float32Array {
    const tensor = this.get(name);
    const width = tensor.dims[1] ?? 0;
    const values = new Float32Array(width);
    readSync(this.fd, new Uint8Array(values.buffer), 0, width * 4, tensor.offset + row * width * 4);
    return values;
  }

  close(): void {
    closeSync(this.fd);
  }
}
