import { isErrorCode, TokenrailError } from '../../core/errors.ts';
import type { Finish } from '../../transport/messages.ts';

const FALLBACK = {
  deadline: 'The request did not finish in time.',
  abort: 'The home cancelled the request.',
  error: 'The home ended the request with an error.',
} as const;

/** What a client is told when its home ended the request for a reason that is no answer. */
export function finishError(finish: Finish): TokenrailError {
  const reason = finish.reason === 'deadline' || finish.reason === 'abort' ? finish.reason : 'error';
  const message = finish.error?.message ?? FALLBACK[reason];
  if (reason === 'deadline') return new TokenrailError('deadline_exceeded', message);
  if (reason === 'abort') return new TokenrailError('cancelled', message);
  const code = finish.error?.code;
  return new TokenrailError(isErrorCode(code) ? code : 'internal', message);
}
