import type { TokenrailError } from '../../../core/errors.ts';
import type { Delta, GenerationEnd, GenerationListener } from '../generation-events.ts';
import type { AnswerFormat } from './answer-format.ts';

/** Where the objects of a streamed answer go: SSE, or messages to a reply subject. */
export interface StreamSink {
  /** Commits to a stream; afterwards errors come as objects in it. Idempotent. */
  open(): void;
  chunk(object: object): void;
  /** The whole outcome if nothing was opened yet, else an object in the stream followed by its end. */
  fail(error: TokenrailError): void;
  end(): void;
}

export interface StreamedAnswerOptions {
  includeUsage: boolean;
  returnTokenIds: boolean;
}

/** Turns the events of a request into the objects of a stream. */
export class StreamedAnswer implements GenerationListener {
  private readonly format: AnswerFormat;
  private readonly sink: StreamSink;
  private readonly options: StreamedAnswerOptions;

  constructor(format: AnswerFormat, sink: StreamSink, options: StreamedAnswerOptions) {
    this.format = format;
    this.sink = sink;
    this.options = options;
  }

  onAdmitted(): void {
    this.sink.open();
    const opening = this.format.opening();
    if (opening !== undefined) this.sink.chunk(opening);
  }

  onDelta(delta: Delta): void {
    // An object without text says nothing, unless somebody counts its tokens.
    const tellsIds = this.options.returnTokenIds && delta.ids.length > 0;
    if (delta.text !== '' || tellsIds) this.sink.chunk(this.format.delta(delta));
  }

  onEnd(end: GenerationEnd): void {
    if (end.kind === 'failed') return this.sink.fail(end.error);
    this.sink.chunk(this.format.closing(end.finishReason, end.stopString));
    if (this.options.includeUsage) this.sink.chunk(this.format.usage(end.usage));
    this.sink.end();
  }
}
