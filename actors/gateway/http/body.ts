import type { FastifyInstance, FastifyRequest } from 'fastify';
import { TokenrailError } from '../../../core/errors.ts';

/** Nesting beyond which a body is refused; the deepest field we know sits at 4. */
const MAX_DEPTH = 64;

/** Replaces Fastify's parsers: JSON only, uncompressed, valid UTF-8, not nested without end. */
export function installBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, parseBody(body as Buffer));
    } catch (thrown) {
      done(thrown as Error, undefined);
    }
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const refusal = encodingRefusal(request);
    if (refusal === undefined) done(null, payload);
    else done(refusal);
  });
}

function encodingRefusal(request: FastifyRequest): TokenrailError | undefined {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity') return undefined;
  return new TokenrailError('unsupported_media_type', 'Compressed bodies are not supported.');
}

/**
 * The value of a JSON body.
 * @throws TokenrailError `invalid_request`
 */
export function parseBody(body: Buffer): unknown {
  if (body.byteLength === 0)
    throw new TokenrailError('invalid_request', 'The body is empty; it must be a JSON object.');
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TokenrailError('invalid_request', 'The body must be a JSON object.');
  }
  if (isDeeperThan(value, MAX_DEPTH))
    throw new TokenrailError('invalid_request', 'The body is nested too deeply.');
  return value;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw new TokenrailError('invalid_request', 'The body is not valid JSON.', { cause });
  }
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Level by level instead of recursively: the value may be as deep as a stack allows, or deeper. */
function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true;
    level = level.filter(isContainer).flatMap((item) => Object.values(item));
  }
  return false;
}
