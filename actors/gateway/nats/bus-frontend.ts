import type { TokenrailError } from '../../../core/errors.ts';
import type { GenerationListener } from '../generation-events.ts';
import type { AnswerFormat } from '../openai/answer-format.ts';
import { StreamedAnswer } from '../openai/streamed-answer.ts';
import { WholeAnswer } from '../openai/whole-answer.ts';
import type { AcceptedRequest, Frontend } from '../frontend.ts';
import { BusStreamReply, BusWholeReply, type BusReplyTarget } from './bus-reply.ts';

/** One bus request's way back. */
export class BusFrontend implements Frontend {
  private readonly target: BusReplyTarget;
  /** Whether the client awaits a stream; decides if a refusal is followed by a terminator. */
  streams = true;

  constructor(target: BusReplyTarget) {
    this.target = target;
  }

  accept(request: AcceptedRequest, format: AnswerFormat): GenerationListener {
    this.streams = request.stream;
    if (request.stream) return new StreamedAnswer(format, new BusStreamReply(this.target), request);
    return new WholeAnswer(format, new BusWholeReply(this.target));
  }

  refuse(error: TokenrailError): void {
    const sink = this.streams ? new BusStreamReply(this.target) : new BusWholeReply(this.target);
    sink.fail(error);
  }
}
