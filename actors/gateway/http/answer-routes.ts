import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TokenrailError } from '../../../core/errors.ts';
import { PATHS } from './paths.ts';
import type { RequestService } from '../request-service.ts';
import { HttpFrontend, type HttpFrontendOptions } from './http-frontend.ts';

export interface AnswerRoutesOptions extends Omit<HttpFrontendOptions, 'onTooSlow'> {
  service: RequestService;
}

/** The two endpoints that generate. */
export function addAnswerRoutes(app: FastifyInstance, options: AnswerRoutesOptions): void {
  const handle = (kind: 'chat' | 'completion') => (request: FastifyRequest, reply: FastifyReply) => {
    // The reply is sent by callbacks; Fastify waits because nothing is returned.
    const onTooSlow = (): void => submitted.cancel('abort', tooSlow());
    const submitted = options.service.submit(
      kind,
      request.body,
      new HttpFrontend(reply, { ...options, onTooSlow }),
    );
    // 'close' comes with FIN and RST alike, and also after a regular end.
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) submitted.cancel('abort', gone());
    });
  };
  app.post(PATHS.chat[1], handle('chat'));
  app.post(PATHS.completions[1], handle('completion'));
}

const gone = (): TokenrailError => new TokenrailError('cancelled', 'The client closed the connection.');
const tooSlow = (): TokenrailError => new TokenrailError('cancelled', 'The client reads too slowly.');
