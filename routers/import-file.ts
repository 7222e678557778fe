import { existsSync, readFileSync } from 'node:fs';

const imported = new Map<string, Promise<object>>();

/**
 * Imports a user's file once per process, whatever loader the process runs with and wherever the file lies.
 *
 * TypeScript, and `.js` outside a package of `"type": "module"`, go through tsx under a name space of their
 * own. Node's own import would not do: the compiled program runs without a loader, and tsx once registered
 * takes a file without such a package for CommonJS, which current Node refuses to load as a part of an ESM graph.
 */
export function importFile(url: URL): Promise<object> {
  const known = imported.get(url.href);
  if (known) return known;
  const loading = load(url);
  imported.set(url.href, loading);
  return loading;
}

async function load(url: URL): Promise<object> {
  const isScript = url.pathname.endsWith('.js');
  if (!isScript && !/\.[cm]?ts$/.test(url.pathname)) return (await import(url.href)) as object;
  if (isScript && packageType(url) === 'module') return (await import(url.href)) as object;
  const { tsImport } = await import('tsx/esm/api');
  return (await tsImport(url.href, import.meta.url)) as object;
}

/** `type` of the nearest package.json, as Node looks for it; undefined where there is none. */
function packageType(file: URL): unknown {
  for (let dir = new URL('.', file); ; dir = new URL('..', dir)) {
    const manifest = new URL('package.json', dir);
    if (existsSync(manifest)) return (JSON.parse(readFileSync(manifest, 'utf8')) as { type?: unknown }).type;
    if (dir.pathname === new URL('..', dir).pathname) return undefined;
  }
}
