import { fastify, type FastifyInstance } from 'fastify';
import { TokenrailError } from '../../../core/errors.ts';
import type { Logger } from '../../../core/log.ts';
import { bearerKey, KeyCheck } from '../auth.ts';
import { installBodyParser } from './body.ts';
import { answerClientError, asTokenrailError, installErrorHandlers } from './errors.ts';
import { isGuarded } from './paths.ts';
import { sendError } from './send-error.ts';

export interface HttpServerOptions {
  host: string;
  port: number;
  apiKeys: readonly string[];
  bodyLimitBytes: number;
  retryAfterSeconds: number;
  logger: Logger;
}

/** A client that sends its request this slowly is cut off. */
const REQUEST_TIMEOUT_MS = 60_000;
/** An X-Request-Id worth repeating: visible ASCII, not too long. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** A Fastify server with everything that is the same on every path; routes are added by the caller. */
export function createHttpServer(options: HttpServerOptions): FastifyInstance {
  const { logger, retryAfterSeconds, bodyLimitBytes } = options;
  const app = fastify({
    logger: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 16_384 },
    frameworkErrors: (error, _request, reply) =>
      sendError(reply, asTokenrailError(error, bodyLimitBytes), retryAfterSeconds),
    clientErrorHandler: answerClientError,
  });
  const keys = new KeyCheck(options.apiKeys);
  app.addHook('onRequest', (request, reply, done) => {
    const requestId = request.headers['x-request-id'];
    if (typeof requestId === 'string' && REQUEST_ID.test(requestId))
      void reply.header('x-request-id', requestId);
    if (!isGuarded(request.url)) return done();
    try {
      keys.require(bearerKey(request.headers.authorization));
    } catch (thrown) {
      return done(thrown as Error);
    }
    return done();
  });
  installBodyParser(app);
  installErrorHandlers(app, { logger, retryAfterSeconds, bodyLimitBytes });
  return app;
}

/**
 * Binds the port and returns the base URL.
 * @throws TokenrailError `port_unavailable` naming host and port
 */
export async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port });
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new TokenrailError('port_unavailable', `cannot listen on ${host}:${port} (${why})`, { cause });
  }
}
