import { TokenrailError } from '../../../core/errors.ts';

/** A `checkpoint_invalid` error; the message names the file and what was expected. */
export function checkpointError(message: string, cause?: unknown): TokenrailError {
  return new TokenrailError('checkpoint_invalid', message, cause === undefined ? {} : { cause });
}
