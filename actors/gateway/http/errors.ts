import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { ERROR_TABLE, TokenrailError, toTokenrailError, type ErrorCode } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import { errorBody } from '../openai/error-body.ts';
import { allowedMethods } from './paths.ts';
import { sendError } from './send-error.ts';

/** What Fastify's own refusals are called here. */
const CODES: Readonly<Record<string, [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'The body must be JSON (content-type: application/json).',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid_request', 'The body is not as long as content-length says.'],
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not a valid URL.'],
  FST_ERR_MAX_PARAM_LENGTH: ['route_not_found', 'The path is too long.'],
};

/** Any thrown value as one of our errors. `bodyLimitBytes` is told to whoever sent more. */
export function asTokenrailError(thrown: unknown, bodyLimitBytes: number): TokenrailError {
  if (thrown instanceof TokenrailError) return thrown;
  const { code, statusCode } = thrown as Partial<FastifyError>;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const message = `The body may have ${bodyLimitBytes} bytes (advanced.max-body-bytes), this one has more.`;
    return new TokenrailError('payload_too_large', message, { cause: thrown });
  }
  const known = typeof code === 'string' ? CODES[code] : undefined;
  if (known !== undefined) return new TokenrailError(known[0], known[1], { cause: thrown });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new TokenrailError('invalid_request', 'The request could not be read.', { cause: thrown });
  }
  return toTokenrailError(thrown);
}

export interface ErrorHandlerOptions {
  logger: Logger;
  retryAfterSeconds: number;
  bodyLimitBytes: number;
}

/** JSON errors everywhere: thrown ones, unknown paths, wrong methods. */
export function installErrorHandlers(app: FastifyInstance, options: ErrorHandlerOptions): void {
  const answer = (thrown: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = asTokenrailError(thrown, options.bodyLimitBytes);
    if (error.code === 'internal')
      options.logger.error({ err: error.cause ?? error, url: request.url }, 'a request failed');
    sendError(reply, error, options.retryAfterSeconds);
  };
  app.setErrorHandler(answer);
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? request.url;
    const allowed = allowedMethods(path);
    if (allowed.length === 0) {
      return answer(
        new TokenrailError('route_not_found', `There is no ${request.method} ${clip(path)}.`),
        request,
        reply,
      );
    }
    void reply.header('allow', allowed.join(', '));
    const message = `${clip(path)} takes ${allowed.join(', ')}, not ${request.method}.`;
    return answer(new TokenrailError('method_not_allowed', message), request, reply);
  });
}

const clip = (text: string): string => (text.length <= 200 ? text : `${text.slice(0, 200)}…`);

/** The answer to bytes that are no HTTP request. Written to the socket: there is no reply object yet. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(
    errorBody(new TokenrailError('invalid_request', 'This is not a valid HTTP request.')),
  );
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
  const status = tooLarge
    ? '431 Request Header Fields Too Large'
    : `${ERROR_TABLE.invalid_request.status} Bad Request`;
  const head = `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
}
