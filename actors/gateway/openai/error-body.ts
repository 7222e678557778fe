import type { TokenrailError } from '../../../core/errors.ts';

/** OpenAI's error object, the only shape in which errors leave the gateway. */
export interface ErrorBody {
  error: { message: string; type: string; param: string | null; code: string };
}

/** The error as a client sees it. The details of our own faults stay in the log. */
export function errorBody(error: TokenrailError): ErrorBody {
  const message = error.code === 'internal' ? 'The server failed to handle the request.' : error.message;
  return { error: { message, type: error.type, param: error.param ?? null, code: error.code } };
}
