import { closeSync, openSync } from 'node:fs';
import { flagError } from './system-options.ts';

/**
 * Finds out before a long run whether its page can be written in the end. Creates the file; what it holds stays.
 *
 * @param flag as people type it, like `--svg`
 * @throws TokenrailError `config_invalid` naming the flag, with what the system says of the file
 */
export function ensureWritable(flag: string, path: string | undefined): void {
  if (path === undefined) return;
  try {
    closeSync(openSync(path, 'a'));
  } catch (error) {
    throw flagError(flag, error instanceof Error ? error.message : String(error), error);
  }
}
