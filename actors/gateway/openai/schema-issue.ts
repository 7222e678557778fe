import type { z } from 'zod';
import { TokenrailError } from '../../../core/errors.ts';

/** A place in a request as OpenAI writes it in `param`: `messages[0].content[1].type`. */
export function paramOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

/** A field with a value that is wrong in any server. */
export function invalid(param: string, why: string): TokenrailError {
  return new TokenrailError('invalid_request', `${param} ${why}.`, { param });
}

/** A field or value that this server does not support. */
export function unsupported(param: string, why: string): TokenrailError {
  return new TokenrailError('unsupported_parameter', `${param} ${why}.`, { param });
}

/** The first fault that zod found. Our schemas' messages complete a sentence that begins with the field. */
export function errorOf(error: z.ZodError): TokenrailError {
  const issue = error.issues[0];
  return invalid(paramOf(issue?.path ?? []), issue?.message ?? 'is not valid');
}
