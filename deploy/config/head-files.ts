import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { RouterEntry } from '../../core/deployment.ts';
import { TokenrailError } from '../../core/errors.ts';
import { routersWithHead } from '../../routers/registry.ts';
import { fileDigest } from '../file-digest.ts';

/** Where a built-in router finds its network unless told: `routers/<use>/head.safetensors` beside the home's folder. */
export function defaultHeadFile(homePath: string, use: string): string {
  return join(dirname(homePath), 'routers', use, 'head.safetensors');
}

/** The entry with option `head` filled in, where it is a built-in router that needs one. */
export function withDefaultHead(entry: RouterEntry, homePath: string): RouterEntry {
  const { use, options } = entry;
  const isComplete = options['head'] !== undefined || options['deferToken'] !== undefined;
  if (!routersWithHead.has(use) || isComplete) return entry;
  return { ...entry, options: { ...options, head: defaultHeadFile(homePath, use) } };
}

/**
 * SHA-256 of the network that option `head` names. A router of the user's own may mean something else by it.
 * @throws TokenrailError `config_invalid` naming router, option and file where a built-in router's cannot be read
 */
function headDigest({ id, use, options }: RouterEntry, baseDir: string): string | undefined {
  const { head } = options;
  if (typeof head !== 'string' || head === '') return undefined; // the router complains better
  const path = resolve(baseDir, head);
  if (!routersWithHead.has(use) && !existsSync(path)) return undefined;
  try {
    return fileDigest(path);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new TokenrailError(
      'config_invalid',
      `routers: router "${id}": option "head": ${path} cannot be read: ${reason}`,
      { param: 'routers', cause: thrown },
    );
  }
}

/** The routers with the content of their networks in place of the paths, which differ from machine to machine. */
export function withHeadDigests(routers: readonly RouterEntry[], baseDir: string): RouterEntry[] {
  return routers.map((router) => {
    const digest = headDigest(router, baseDir);
    return digest === undefined ? router : { ...router, options: { ...router.options, head: digest } };
  });
}
