import { closeSync, openSync } from 'node:fs';
import { TokenrailError } from '../../core/errors.ts';

/**
 * Finds out before a long run whether its page can be written in the end. Creates the file; what it holds stays.
 *
 * @throws TokenrailError `config_invalid` naming flag and file
 */
export function ensureWritable(flag: string, path: string | undefined): void {
  if (path === undefined) return;
  try {
    closeSync(openSync(path, 'a'));
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new TokenrailError('config_invalid', `--${flag}: "${path}" cannot be written (${reason})`, {
      param: `--${flag}`,
      cause,
    });
  }
}
