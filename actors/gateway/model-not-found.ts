import { TokenrailError } from '../../core/errors.ts';

/** The answer to a request for a model nobody serves. */
export function modelNotFound(name: string): TokenrailError {
  const shown = name.length <= 100 ? name : `${name.slice(0, 100)}…`;
  return new TokenrailError('model_not_found', `The model '${shown}' does not exist.`, { param: 'model' });
}
