import type { TokenrailError } from '../../core/errors.ts';
import type { EndReason } from '../../core/request.ts';
import type { GenerationListener } from './generation-events.ts';
import type { GenerationRequest } from './generation-request.ts';
import type { AnswerFormat } from './openai/answer-format.ts';

/** What a front-end needs to know of a request to shape its answer. */
export type AcceptedRequest = Pick<GenerationRequest, 'stream' | 'includeUsage' | 'returnTokenIds'>;

/** One client's way back. Exactly one of the two is called, once. */
export interface Frontend {
  /** The request is valid and in the queue: returns who follows it. */
  accept(request: AcceptedRequest, format: AnswerFormat): GenerationListener;
  refuse(error: TokenrailError): void;
}

/** A request on its way; `cancel` ends it wherever it is. Idempotent. */
export interface Submitted {
  cancel(reason: EndReason, error: TokenrailError): void;
}
