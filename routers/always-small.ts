import { STAY } from '../core/request.ts';
import { readOptions } from './options.ts';
import type { Router, RouterContext } from './router.ts';

const NAME = 'always-small';

/** The home writes every token. A guest that is given the request all the same returns it. No options. */
export function alwaysSmall(context: RouterContext): Router {
  readOptions(NAME, context, {});
  const destination = context.self === context.home ? STAY : context.home;
  return {
    name: NAME,
    needs: {},
    onHandoff: 'keep',
    route: (rows) => rows.map(() => destination),
  };
}
