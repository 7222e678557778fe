import { readFileSync } from 'node:fs';
import { checkpointError } from './checkpoint-error.ts';

const LFS_POINTER_START = 'version https://git-lfs';

/** Whether a file's first bytes are those of a Git LFS pointer: the checkout has names but no contents. */
export function isLfsPointer(head: Uint8Array): boolean {
  return Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, LFS_POINTER_START.length))
    .toString('latin1')
    .startsWith(LFS_POINTER_START);
}

/** A JSON object with its path, read field by field; every error names the file and the key. */
export class JsonFields {
  readonly path: string;
  private readonly fields: Readonly<Record<string, unknown>>;

  constructor(path: string, fields: Readonly<Record<string, unknown>>) {
    this.path = path;
    this.fields = fields;
  }

  /** @throws TokenrailError `checkpoint_invalid` when missing, a Git LFS pointer or no JSON object */
  static read(path: string): JsonFields {
    const bytes = readBytes(path);
    if (isLfsPointer(bytes)) {
      throw checkpointError(
        `${path} is a Git LFS pointer of ${bytes.byteLength} bytes; fetch the real file with "git lfs pull"`,
      );
    }
    let parsed: unknown;
    try {
      parsed = JSON.parse(bytes.toString('utf8'));
    } catch (error) {
      throw checkpointError(`${path} (${bytes.byteLength} bytes) is not valid JSON`, error);
    }
    if (!isRecord(parsed)) throw checkpointError(`${path} does not hold a JSON object`);
    return new JsonFields(path, parsed);
  }

  keys(): string[] {
    return Object.keys(this.fields);
  }

  /** The value, or undefined where absent or null. */
  value(key: string): unknown {
    return this.fields[key] ?? undefined;
  }

  /** A finite number; `fallback` where absent or null, an error where there is none. */
  number(key: string, fallback?: number): number {
    const value = this.value(key) ?? fallback;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw this.wrong(key, 'a number', value);
  }

  /** A positive integer. */
  count(key: string, fallback?: number): number {
    const value = this.number(key, fallback);
    if (Number.isInteger(value) && value > 0) return value;
    throw this.wrong(key, 'a positive integer', value);
  }

  flag(key: string, fallback: boolean): boolean {
    const value = this.value(key) ?? fallback;
    if (typeof value === 'boolean') return value;
    throw this.wrong(key, 'true or false', value);
  }

  object(key: string): JsonFields | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    if (isRecord(value)) return new JsonFields(`${this.path} (${key})`, value);
    throw this.wrong(key, 'an object', value);
  }

  wrong(key: string, expected: string, actual: unknown): Error {
    return checkpointError(
      `${this.path}: "${key}" must be ${expected}, found ${JSON.stringify(actual) ?? 'nothing'}`,
    );
  }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw checkpointError(
      `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
