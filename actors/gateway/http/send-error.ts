import type { FastifyReply } from 'fastify';
import type { TokenrailError } from '../../../core/errors.ts';
import { errorBody } from '../openai/error-body.ts';

/** Answers with an error; to a client that is gone it answers nothing. */
export function sendError(reply: FastifyReply, error: TokenrailError, retryAfterSeconds: number): void {
  if (reply.sent || reply.raw.destroyed) return;
  if (error.retryable && (error.status === 429 || error.status === 503)) {
    void reply.header('retry-after', String(retryAfterSeconds));
  }
  void reply.code(error.status).send(errorBody(error));
}
