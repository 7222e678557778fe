import { closeSync, openSync, readSync } from 'node:fs';
import type { z } from 'zod';
import type { RecordMessage } from '../../actors/recorder/index.ts';
import { decodeFrame } from '../../transport/codec.ts';
import { MAX_FRAME_BYTES } from '../../transport/wire/limits.ts';
import { flagError } from '../system-options.ts';
import { endSchema, headerSchema, type RecordingEnd, type RecordingHeader } from './header.ts';

const OPENING_BRACE = 0x7b;

/** Reads a recording from its beginning to its end, one chunk at a time. */
export class RecordingReader {
  readonly header: RecordingHeader;
  /** How the recording ended; undefined until it has been read through, or where it was cut short. */
  end: RecordingEnd | undefined;
  private readonly path: string;
  private readonly fd: number;
  private offset = 0;

  /** @throws TokenrailError `config_invalid` naming `--in`, the file and the field at fault */
  constructor(path: string) {
    this.path = path;
    try {
      this.fd = openSync(path, 'r');
    } catch (thrown) {
      throw flagError('--in', thrown instanceof Error ? thrown.message : String(thrown), thrown);
    }
    try {
      const first = this.nextChunk();
      if (first?.[0] !== OPENING_BRACE) throw this.wrong('is no recording: it has no header');
      this.header = this.parse(first, headerSchema, 'header');
    } catch (thrown) {
      this.close();
      throw thrown;
    }
  }

  /**
   * The messages of the next chunk; undefined at the end. A last chunk that is not whole counts as not there.
   * @throws TokenrailError `config_invalid` naming the file, where in it, and the field at fault
   */
  next(): RecordMessage[] | undefined {
    const at = this.offset;
    const chunk = this.end === undefined ? this.nextChunk() : undefined;
    if (chunk === undefined) return undefined;
    if (chunk[0] === OPENING_BRACE) {
      this.end = this.parse(chunk, endSchema, 'end');
      return undefined;
    }
    const { messages, dropped, reason, detail } = decodeFrame(chunk);
    if (dropped > 0) throw this.wrong(`byte ${at}: ${reason ?? 'unreadable'} ${detail ?? ''}`.trimEnd());
    return messages.map((message) => {
      if (message.kind === 'step-record' || message.kind === 'record-end') return message;
      throw this.wrong(`byte ${at}: holds a ${message.kind}, which is no record`);
    });
  }

  close(): void {
    closeSync(this.fd);
  }

  private nextChunk(): Uint8Array | undefined {
    const prefix = this.read(4);
    if (prefix === undefined) return undefined;
    const length = prefix.readUInt32LE();
    if (length === 0 || length > MAX_FRAME_BYTES)
      throw this.wrong(
        `byte ${this.offset - 4}: a chunk of ${length} bytes, allowed are 1 to ${MAX_FRAME_BYTES}`,
      );
    return this.read(length);
  }

  private read(length: number): Buffer | undefined {
    const bytes = Buffer.alloc(length);
    let done = 0;
    while (done < length) {
      const count = this.readInto(bytes, done);
      if (count === 0) return undefined;
      done += count;
    }
    this.offset += length;
    return bytes;
  }

  private readInto(bytes: Buffer, done: number): number {
    try {
      return readSync(this.fd, bytes, done, bytes.byteLength - done, this.offset + done);
    } catch (thrown) {
      throw this.wrong(thrown instanceof Error ? thrown.message : String(thrown), thrown); // a folder, a pipe
    }
  }

  private parse<S extends z.ZodType>(chunk: Uint8Array, schema: S, what: string): z.output<S> {
    let value: unknown;
    try {
      value = JSON.parse(Buffer.from(chunk).toString('utf8'));
    } catch (thrown) {
      throw this.wrong(`its ${what} is no JSON: ${(thrown as Error).message}`);
    }
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    throw this.wrong(`${what}.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong'}`);
  }

  /** The error for a recording that is not what it should be. */
  wrong(problem: string, cause?: unknown): Error {
    return flagError('--in', `${this.path}: ${problem}`, cause);
  }
}
