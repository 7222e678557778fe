import { toTokenrailError } from '../../core/errors.ts';

/** Exit code for a wrong command line or configuration, as shells expect it. */
export const USAGE_ERROR = 2;

/** Says in one line what a command failed of, with the stack where that is our fault, and returns the exit code. */
export function reportFailure(thrown: unknown): number {
  const error = toTokenrailError(thrown);
  process.stderr.write(`tokenrail: ${error.code}: ${error.message}\n`);
  // Of an error that somebody else threw, the stack says where.
  const { stack = '' } = error.cause instanceof Error ? error.cause : error;
  if (error.code === 'internal') process.stderr.write(`${stack}\n`);
  return error.code === 'config_invalid' ? USAGE_ERROR : 1;
}
