import type { ModelId } from '../../core/request.ts';
import type { StepRecord } from '../../transport/messages.ts';

/** What is known of one recorded request while it is read. */
export interface BookedRequest {
  rid: string;
  tokens: number[];
  promptLen: number;
  /** Model of its first row; the home where it made one, whoever else did. */
  firstModel: ModelId | undefined;
  hasEnded: boolean;
}

/** Records of one request may come after its end, from another sender. */
const NUM_ENDED_KEPT = 256;

/** Puts the sequences of requests together from what each record adds. */
export class RequestBook {
  private readonly open = new Map<string, BookedRequest>();
  private readonly ended: string[] = [];
  private readonly onClosed: (request: BookedRequest) => void;

  /** @param onClosed told of each request of which nothing more can come */
  constructor(onClosed: (request: BookedRequest) => void) {
    this.onClosed = onClosed;
  }

  /** The request of a record, begun with it where it is new. */
  of({ rid, position, numGenerated }: StepRecord): BookedRequest {
    let request = this.open.get(rid);
    if (request === undefined) {
      const promptLen = position - numGenerated;
      request = { rid, tokens: [], promptLen, firstModel: undefined, hasEnded: false };
      this.open.set(rid, request);
    }
    return request;
  }

  /** A copy of the sequence before the record's token; undefined where a part of it was not recorded. */
  sequence(record: StepRecord): readonly number[] | undefined {
    const { tokens } = this.of(record);
    const { position, suffix } = record;
    const start = position - suffix.length;
    if (start > tokens.length) return undefined;
    suffix.forEach((id, i) => (tokens[start + i] = id));
    return tokens.slice(0, position);
  }

  end(rid: string): void {
    const request = this.open.get(rid);
    if (request === undefined || request.hasEnded) return;
    request.hasEnded = true;
    this.ended.push(rid);
    if (this.ended.length > NUM_ENDED_KEPT) this.close(this.ended.shift() ?? '');
  }

  closeAll(): void {
    for (const rid of [...this.open.keys()]) this.close(rid);
  }

  private close(rid: string): void {
    const request = this.open.get(rid);
    this.open.delete(rid);
    if (request !== undefined) this.onClosed(request);
  }
}
