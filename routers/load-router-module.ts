import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TokenrailError } from '../core/errors.ts';
import { checkRouter } from './check-router.ts';
import { importFile } from './import-file.ts';
import type { Router, RouterContext, RouterFactory } from './router.ts';

/** Whether `use` names a file rather than a built-in router. */
export function isModulePath(use: string): boolean {
  return /\.[cm]?[jt]s$/.test(use);
}

function moduleError(use: string, file: string, problem: string, cause?: unknown): TokenrailError {
  return new TokenrailError('config_invalid', `router "${use}" (${file}): ${problem}`, { cause });
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/**
 * Imports a user's router, in TypeScript or JavaScript, wherever its file lies.
 * @throws TokenrailError `config_invalid` naming the router and its file
 */
export async function loadRouterModule(use: string, baseDir: string): Promise<RouterFactory> {
  const file = resolve(baseDir, use);
  if (!existsSync(file)) throw moduleError(use, file, 'no such file');
  let exported: unknown;
  try {
    exported = ((await importFile(pathToFileURL(file))) as { default?: unknown }).default;
  } catch (thrown) {
    throw moduleError(use, file, `the module cannot be loaded: ${messageOf(thrown)}`, thrown);
  }
  if (typeof exported !== 'function') {
    throw moduleError(
      use,
      file,
      `the default export must be a function that makes a router, not ${typeof exported}`,
    );
  }
  const make = exported as RouterFactory;
  return (context) => makeRouter(make, context, use, file);
}

function makeRouter(make: RouterFactory, context: RouterContext, use: string, file: string): Router {
  let router: unknown;
  try {
    router = make(context);
  } catch (thrown) {
    throw moduleError(use, file, messageOf(thrown), thrown);
  }
  const problem = checkRouter(router);
  if (problem !== undefined) throw moduleError(use, file, problem);
  return router as Router;
}
