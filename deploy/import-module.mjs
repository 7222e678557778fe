import { existsSync } from 'node:fs';

/**
 * Imports a module of ours by its path without extension: from the TypeScript sources through tsx where they
 * are, else its compiled twin. Processes and workers start here, because a runtime without a loader cannot
 * open a .ts file.
 *
 * @param {string} path relative to `base`, without extension
 * @param {string} base `import.meta.url` of the caller
 */
export async function importModule(path, base) {
  const source = new URL(`${path}.ts`, base);
  if (!existsSync(source)) return import(new URL(`${path}.js`, base).href);
  const { register } = await import('tsx/esm/api');
  register();
  return import(source.href);
}
