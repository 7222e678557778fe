import { register } from 'node:module';

let preparing: Promise<void> | undefined;

/**
 * Imports a user's file as Node does, once per process; TypeScript and ES modules need no package.json beside
 * them, whether this program runs from its sources or compiled.
 */
export async function importFile(url: URL): Promise<object> {
  if (!/\.[cm]js$/.test(url.pathname)) await (preparing ??= prepare());
  return (await import(url.href)) as object;
}

async function prepare(): Promise<void> {
  // The sources run under tsx already; the compiled program runs without any loader.
  if (import.meta.url.endsWith('.js')) (await import('tsx/esm/api')).register();
  register('./file-format-hooks.mjs', import.meta.url);
}
