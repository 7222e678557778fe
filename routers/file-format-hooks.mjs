// Runs on Node's thread for module hooks, which no TypeScript loader serves: hence plain JavaScript.
import { readFileSync } from 'node:fs';

const ESM_LINE = /^\s*(?:import\s*[\w$*{'"]|export\s*[\w$*{])/m;

/** @param {URL} url of a file, without query */
function isModule(url) {
  const { protocol, pathname } = url;
  if (protocol !== 'file:' || pathname.includes('/node_modules/')) return false;
  if (pathname.endsWith('.ts')) return true;
  return pathname.endsWith('.js') && ESM_LINE.test(readFileSync(url, 'utf8'));
}

/**
 * A user's file is an ES module if it is TypeScript or written as one, whatever package.json lies near it or does
 * not. tsx goes by package.json and takes most such files for CommonJS, which Node 20 then refuses to load as a
 * part of a graph of ES modules.
 */
export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  try {
    const url = new URL(resolved.url);
    url.search = url.hash = '';
    if (isModule(url)) return { ...resolved, format: 'module' };
  } catch {
    // What cannot be read is reported by the loader, with the name of the importer.
  }
  return resolved;
}
