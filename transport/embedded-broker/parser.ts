import { parseControlLine, type PublishHead } from './control-line.ts';
import { MAX_CONTROL_LINE_BYTES, type ClientCommand, type ProtocolErrorText } from './protocol.ts';

export interface ParserSink {
  onCommand(command: ClientCommand): void;
  /** Called once; what follows on the connection cannot be understood and is ignored. */
  onProtocolError(text: ProtocolErrorText): void;
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** A publish whose payload has not arrived completely. `buffer` holds payload and CRLF. */
interface OpenPublish {
  head: PublishHead;
  buffer: Buffer;
  filled: number;
}

/**
 * Incremental parser of what one client sends, in chunks cut anywhere. Memory is bounded by one control line
 * plus one payload of at most `maxPayloadBytes`.
 */
export class ProtocolParser {
  private readonly sink: ParserSink;
  private readonly maxPayloadBytes: number;
  private lineStart: Buffer | undefined;
  private open: OpenPublish | undefined;
  private stopped = false;

  constructor(sink: ParserSink, maxPayloadBytes: number) {
    this.sink = sink;
    this.maxPayloadBytes = maxPayloadBytes;
  }

  /** Stops calling the sink, also for the rest of the chunk being parsed. */
  stop(): void {
    this.stopped = true;
    this.lineStart = undefined;
    this.open = undefined;
  }

  push(chunk: Buffer): void {
    let bytes = chunk;
    if (this.lineStart !== undefined) {
      bytes = Buffer.concat([this.lineStart, chunk]);
      this.lineStart = undefined;
    }
    let at = 0;
    while (at < bytes.length && !this.stopped) {
      at = this.open === undefined ? this.takeLine(bytes, at) : this.fillPayload(this.open, bytes, at);
    }
  }

  private fail(text: ProtocolErrorText): void {
    if (this.stopped) return;
    this.stop();
    this.sink.onProtocolError(text);
  }

  /** Reads one line from `at` on; returns where the next element begins. */
  private takeLine(bytes: Buffer, at: number): number {
    const lineFeed = bytes.indexOf(LINE_FEED, at);
    const end = lineFeed === -1 ? bytes.length : lineFeed;
    if (end - at > MAX_CONTROL_LINE_BYTES + 1) {
      this.fail('Maximum Control Line Exceeded');
      return bytes.length;
    }
    if (lineFeed === -1) {
      // A copy: the chunk must not be kept alive by a few bytes.
      this.lineStart = Buffer.from(bytes.subarray(at));
      return bytes.length;
    }
    const hasReturn = lineFeed > at && bytes[lineFeed - 1] === CARRIAGE_RETURN;
    this.handleLine(bytes.subarray(at, hasReturn ? lineFeed - 1 : lineFeed));
    return lineFeed + 1 + this.takeWholePayload(bytes, lineFeed + 1);
  }

  private handleLine(line: Buffer): void {
    const result = parseControlLine(line);
    if ('error' in result) return this.fail(result.error);
    if ('command' in result) return this.sink.onCommand(result.command);
    if (result.publish.sizeBytes > this.maxPayloadBytes) return this.fail('Maximum Payload Violation');
    this.open = { head: result.publish, buffer: Buffer.alloc(0), filled: 0 };
  }

  /** Payload that lies in the chunk as a whole is used in place; returns the bytes taken. */
  private takeWholePayload(bytes: Buffer, at: number): number {
    if (this.open === undefined || this.stopped) return 0;
    const needed = this.open.head.sizeBytes + 2;
    if (bytes.length - at < needed) {
      this.open.buffer = Buffer.allocUnsafe(needed);
      return 0;
    }
    this.finishPublish(this.open.head, bytes.subarray(at, at + needed));
    return needed;
  }

  private fillPayload(open: OpenPublish, bytes: Buffer, at: number): number {
    const copied = bytes.copy(open.buffer, open.filled, at);
    open.filled += copied;
    if (open.filled === open.buffer.length) this.finishPublish(open.head, open.buffer);
    return at + copied;
  }

  private finishPublish(head: PublishHead, payload: Buffer): void {
    this.open = undefined;
    const { subject, reply, headerBytes, sizeBytes } = head;
    if (payload[sizeBytes] !== CARRIAGE_RETURN || payload[sizeBytes + 1] !== LINE_FEED) {
      this.fail('Parser Error');
      return;
    }
    this.sink.onCommand({ verb: 'PUB', subject, reply, headerBytes, body: payload.subarray(0, sizeBytes) });
  }
}
