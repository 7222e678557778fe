import type { FastifyReply } from 'fastify';
import type { TokenrailError } from '../../../core/errors.ts';
import type { GenerationListener } from '../generation-events.ts';
import type { AnswerFormat } from '../openai/answer-format.ts';
import { StreamedAnswer } from '../openai/streamed-answer.ts';
import { WholeAnswer } from '../openai/whole-answer.ts';
import type { AcceptedRequest, Frontend } from '../frontend.ts';
import { sendError } from './send-error.ts';
import { SseStream, type SseOptions } from './sse-stream.ts';

export type HttpFrontendOptions = SseOptions;

/** One HTTP request's way back: an SSE stream, one JSON object, or an error. */
export class HttpFrontend implements Frontend {
  private readonly reply: FastifyReply;
  private readonly options: HttpFrontendOptions;

  constructor(reply: FastifyReply, options: HttpFrontendOptions) {
    this.reply = reply;
    this.options = options;
  }

  accept(request: AcceptedRequest, format: AnswerFormat): GenerationListener {
    if (request.stream) return new StreamedAnswer(format, new SseStream(this.reply, this.options), request);
    return new WholeAnswer(format, {
      reply: (object) => {
        if (!this.reply.sent && !this.reply.raw.destroyed) void this.reply.send(object);
      },
      fail: (error) => this.refuse(error),
    });
  }

  refuse(error: TokenrailError): void {
    sendError(this.reply, error, this.options.retryAfterSeconds);
  }
}
