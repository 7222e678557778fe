import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { checkpointError } from './checkpoint-error.ts';
import { isLfsPointer } from './json-file.ts';

/** Bytes per element of the stored types that can be read. */
const DTYPE_BYTES = { F32: 4, F16: 2, BF16: 2 } as const;

export type StoredDtype = keyof typeof DTYPE_BYTES;

export interface TensorEntry {
  dtype: StoredDtype;
  shape: readonly number[];
  /** Offset of the first byte in the file. */
  begin: number;
  end: number;
}

interface Header {
  entries: ReadonlyMap<string, TensorEntry>;
  metadata: ReadonlyMap<string, string>;
}

/** Length field of the format (8 bytes) and its own limit for the JSON header. */
const PREFIX_BYTES = 8;
const MAX_HEADER_BYTES = 100_000_000;
/** `readSync` cannot take more than 2^31 − 1 bytes at once. */
const MAX_READ_BYTES = 1 << 30;

/** An open safetensors file whose header agrees with its size. */
export class SafetensorsFile {
  readonly path: string;
  readonly entries: ReadonlyMap<string, TensorEntry>;
  /** The format's free texts (`__metadata__`). */
  readonly metadata: ReadonlyMap<string, string>;
  private readonly fd: number;

  private constructor(path: string, fd: number, header: Header) {
    this.path = path;
    this.fd = fd;
    this.entries = header.entries;
    this.metadata = header.metadata;
  }

  /** @throws TokenrailError `checkpoint_invalid` naming the file with expected and actual sizes */
  static open(path: string): SafetensorsFile {
    const fd = openForReading(path);
    try {
      return new SafetensorsFile(path, fd, readHeader(path, fd));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  readBytes(entry: TensorEntry): Uint8Array {
    const bytes = new Uint8Array(entry.end - entry.begin);
    readFully(this.path, this.fd, bytes, entry.begin);
    return bytes;
  }

  close(): void {
    closeSync(this.fd);
  }
}

function openForReading(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw checkpointError(
      `${path} cannot be opened: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

function readFully(path: string, fd: number, target: Uint8Array, position: number): void {
  let done = 0;
  while (done < target.byteLength) {
    const length = Math.min(target.byteLength - done, MAX_READ_BYTES);
    const count = readSync(fd, target, done, length, position + done);
    if (count === 0) {
      throw checkpointError(
        `${path} ended at byte ${position + done}; ${target.byteLength - done} more bytes were expected`,
      );
    }
    done += count;
  }
}

function readHeader(path: string, fd: number): Header {
  const sizeBytes = fstatSync(fd).size;
  const head = new Uint8Array(Math.min(sizeBytes, 64));
  readFully(path, fd, head, 0);
  if (isLfsPointer(head)) {
    throw checkpointError(
      `${path} is a Git LFS pointer of ${sizeBytes} bytes; fetch the real file with "git lfs pull"`,
    );
  }
  if (sizeBytes < PREFIX_BYTES)
    throw checkpointError(`${path} has ${sizeBytes} bytes; a safetensors file has at least ${PREFIX_BYTES}`);
  const headerBytes = Number(new DataView(head.buffer).getBigUint64(0, true));
  if (headerBytes < 2 || headerBytes > MAX_HEADER_BYTES) {
    throw checkpointError(
      `${path} (${sizeBytes} bytes) is not a safetensors file: its header would be ${headerBytes} bytes long`,
    );
  }
  const dataStart = PREFIX_BYTES + headerBytes;
  if (dataStart > sizeBytes) {
    throw checkpointError(`${path} has ${sizeBytes} bytes; its header alone needs ${dataStart}`);
  }
  const header = new Uint8Array(headerBytes);
  readFully(path, fd, header, PREFIX_BYTES);
  return parseHeader(path, header, dataStart, sizeBytes);
}

function parseHeader(path: string, header: Uint8Array, dataStart: number, sizeBytes: number): Header {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(header).toString('utf8'));
  } catch (error) {
    throw checkpointError(`${path} (${sizeBytes} bytes): the safetensors header is not valid JSON`, error);
  }
  if (typeof parsed !== 'object' || parsed === null)
    throw checkpointError(`${path}: the safetensors header is no object`);
  const entries = new Map<string, TensorEntry>();
  let expectedBytes = dataStart;
  for (const [name, value] of Object.entries(parsed)) {
    if (name === '__metadata__') continue;
    const entry = parseEntry(path, name, value, dataStart);
    entries.set(name, entry);
    expectedBytes = Math.max(expectedBytes, entry.end);
  }
  if (expectedBytes !== sizeBytes) {
    throw checkpointError(`${path} has ${sizeBytes} bytes, its header describes ${expectedBytes}`);
  }
  return { entries, metadata: textsOf((parsed as { __metadata__?: unknown }).__metadata__) };
}

function textsOf(metadata: unknown): Map<string, string> {
  const fields = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : [];
  return new Map(fields.filter((field): field is [string, string] => typeof field[1] === 'string'));
}

function parseEntry(path: string, name: string, value: unknown, dataStart: number): TensorEntry {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
  if (!isCounts(shape) || !isCounts(offsets) || offsets.length !== 2) {
    throw checkpointError(`${path}: the header entry of tensor "${name}" is malformed`);
  }
  if (typeof dtype !== 'string' || !Object.hasOwn(DTYPE_BYTES, dtype)) {
    throw checkpointError(
      `${path}: tensor "${name}" is stored as ${JSON.stringify(dtype)}; supported are ${Object.keys(DTYPE_BYTES).join(', ')}`,
    );
  }
  const known = dtype as StoredDtype;
  const [begin = 0, end = 0] = offsets;
  const needed = shape.reduce((product, size) => product * size, DTYPE_BYTES[known]);
  if (end - begin !== needed) {
    throw checkpointError(
      `${path}: tensor "${name}" of shape [${shape.join(', ')}] needs ${needed} bytes, ${end - begin} are described`,
    );
  }
  return { dtype: known, shape, begin: dataStart + begin, end: dataStart + end };
}

function isCounts(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && (item as number) >= 0);
}
