import { TokenrailError } from '../core/errors.ts';
import { alwaysLarge } from './always-large.ts';
import { alwaysSmall } from './always-small.ts';
import { isModulePath, loadRouterModule } from './load-router-module.ts';
import { citer } from './citer.ts';
import { coLlm } from './co-llm.ts';
import { ensemble } from './ensemble.ts';
import { r2r } from './r2r.ts';
import { rStitch } from './r-stitch.ts';
import { randomRouter } from './random.ts';
import { simulatedRouter } from './simulated.ts';
import type { RouterFactory } from './router.ts';

/** The routers that come with tokenrail, by the name `use` gives them in the configuration. */
export const builtInRouters: ReadonlyMap<string, RouterFactory> = new Map([
  ['r-stitch', rStitch],
  ['r2r', r2r],
  ['citer', citer],
  ['co-llm', coLlm],
  ['ensemble', ensemble],
  ['always-small', alwaysSmall],
  ['always-large', alwaysLarge],
  ['random', randomRouter],
  ['simulated', simulatedRouter],
]);

/** Those of them that decide by a trained network, whose file option `head` names. */
export const routersWithHead: ReadonlySet<string> = new Set(['r2r', 'citer', 'co-llm']);

/**
 * The factory that a router entry's `use` means: a built-in name, or the path of a module (`.ts`, `.js`,
 * `.mjs`, `.mts`; relative to `baseDir`) whose default export is a factory.
 *
 * @throws TokenrailError `config_invalid` naming the router or file and what is wrong with it
 */
export async function loadRouterFactory(use: string, baseDir: string): Promise<RouterFactory> {
  const builtIn = builtInRouters.get(use);
  if (builtIn !== undefined) return builtIn;
  if (isModulePath(use)) return loadRouterModule(use, baseDir);
  const known = [...builtInRouters.keys()].join(', ');
  throw new TokenrailError(
    'config_invalid',
    `router "${use}": no such built-in router (${known}), and not the path of a .ts or .js module`,
  );
}
