import { closeSync, openSync, writeSync } from 'node:fs';
import type { RecordMessage } from '../../actors/recorder/index.ts';
import { encodeFrame } from '../../transport/codec.ts';
import { flagError } from '../system-options.ts';
import type { RecordingEnd, RecordingHeader } from './header.ts';

/**
 * A recording on disk: chunks of 4 bytes of length (little-endian) and a payload. The first payload is the header and
 * the last one the end, both JSON; all others are frames of the wire protocol. Chunks are only ever appended, each by
 * one write, so that a process that is killed leaves all but the last one whole.
 */
export class RecordingWriter {
  private readonly path: string;
  private readonly fd: number;
  sizeBytes = 0;

  /** @throws TokenrailError `config_invalid` naming `--out` where the file exists, cannot be made or not be written */
  constructor(path: string, header: RecordingHeader) {
    this.path = path;
    try {
      this.fd = openSync(path, 'wx', 0o600); // holds what people asked, as token ids
    } catch (thrown) {
      throw flagError('--out', thrown instanceof Error ? thrown.message : String(thrown), thrown);
    }
    try {
      this.append(Buffer.from(JSON.stringify(header)));
    } catch (thrown) {
      this.abandon();
      throw thrown;
    }
  }

  /** @throws TokenrailError `config_invalid` naming `--out` where the file cannot be written, as on a full disk */
  write(messages: readonly RecordMessage[]): void {
    this.append(encodeFrame(messages));
  }

  /** @throws as {@link write} */
  close(end: Omit<RecordingEnd, 'end'>): void {
    try {
      this.append(Buffer.from(JSON.stringify({ end: true, ...end })));
    } finally {
      this.abandon();
    }
  }

  /** Closes the file as it is: without its end, as that of a recorder that was killed. */
  abandon(): void {
    closeSync(this.fd);
  }

  private append(payload: Uint8Array): void {
    const chunk = Buffer.alloc(4 + payload.byteLength);
    chunk.writeUInt32LE(payload.byteLength);
    chunk.set(payload, 4);
    try {
      for (let done = 0; done < chunk.byteLength;) done += writeSync(this.fd, chunk, done);
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      throw flagError('--out', `${this.path}: ${reason}; what was written before stays readable`, thrown);
    }
    this.sizeBytes += chunk.byteLength;
  }
}
