import { STAY } from '../core/request.ts';
import { guestModel } from './guest-model.ts';
import { readOptions } from './options.ts';
import type { Router, RouterContext } from './router.ts';

const NAME = 'always-large';

/**
 * The guest writes every token: the request goes there at admission, before the home makes a forward pass,
 * and stays. The home is asked for a token only where the guest refused; it then tries again at each one.
 *
 * Options: `guest` (name of the large model; default: the last of the configuration that is not the
 * home).
 */
export function alwaysLarge(context: RouterContext): Router {
  const options = readOptions(NAME, context, { guest: { kind: 'model' } });
  const guest = guestModel(NAME, context, options.guest);
  const destination = context.self === guest ? STAY : guest;
  return {
    name: NAME,
    needs: {},
    onHandoff: context.self === guest ? 'keep' : 'discard',
    route: (rows) => rows.map(() => destination),
    first: () => guest,
  };
}
