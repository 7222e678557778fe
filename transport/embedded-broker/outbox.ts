import type { Socket } from 'node:net';

/** Queued bytes are written at once beyond this, instead of at the end of the loop's turn. */
const WRITE_THRESHOLD_BYTES = 64 * 1024;

/**
 * Bytes on their way to one client. Everything queued in one turn of the loop leaves in one write: a system
 * call per message would halve the throughput.
 */
export class Outbox {
  private readonly socket: Socket;
  private readonly maxPendingBytes: number;
  private readonly onOverflow: () => void;
  private parts: Buffer[] = [];
  private queuedBytes = 0;
  private scheduled = false;
  private closed = false;

  /** `onOverflow` is called once, when queued and unsent bytes exceed `maxPendingBytes`. */
  constructor(socket: Socket, maxPendingBytes: number, onOverflow: () => void) {
    this.socket = socket;
    this.maxPendingBytes = maxPendingBytes;
    this.onOverflow = onOverflow;
  }

  push(part: Buffer): void {
    if (this.closed) return;
    this.parts.push(part);
    this.queuedBytes += part.length;
    if (this.queuedBytes + this.socket.writableLength > this.maxPendingBytes) {
      this.close();
      this.onOverflow();
    } else if (this.queuedBytes >= WRITE_THRESHOLD_BYTES) {
      this.flush();
    } else if (!this.scheduled) {
      this.scheduled = true;
      setImmediate(() => this.flush());
    }
  }

  /** Hands everything queued to the socket. The copy releases the receive buffers that the parts lie in. */
  flush(): void {
    this.scheduled = false;
    if (this.closed || this.queuedBytes === 0) return;
    const bytes = Buffer.concat(this.parts, this.queuedBytes);
    this.parts = [];
    this.queuedBytes = 0;
    this.socket.write(bytes);
  }

  /** Drops what is queued; later pushes are ignored. */
  close(): void {
    this.closed = true;
    this.parts = [];
    this.queuedBytes = 0;
  }
}
