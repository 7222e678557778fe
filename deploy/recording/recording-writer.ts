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
  private readonly fd: number;
  sizeBytes = 0;

  /** @throws TokenrailError `config_invalid` naming `--out` where the file exists or cannot be made */
  constructor(path: string, header: RecordingHeader) {
    try {
      this.fd = openSync(path, 'wx', 0o600); // holds what people asked, as token ids
    } catch (thrown) {
      throw flagError('--out', thrown instanceof Error ? thrown.message : String(thrown), thrown);
    }
    this.append(Buffer.from(JSON.stringify(header)));
  }

  write(messages: readonly RecordMessage[]): void {
    this.append(encodeFrame(messages));
  }

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
    for (let done = 0; done < chunk.byteLength;) done += writeSync(this.fd, chunk, done);
    this.sizeBytes += chunk.byteLength;
  }
}
