import { uniform } from '../core/random.ts';
import { STAY } from '../core/request.ts';
import { guestModel } from './guest-model.ts';
import { readOptions } from './options.ts';
import type { RouteRow, Router, RouterContext } from './router.ts';

const NAME = 'random';

/**
 * Hands each token of the home to the guest with probability `p` (the home's own token is discarded); the
 * guest writes one token and returns. Draws are keyed by the request's seed and the token's position: the
 * same request is routed in the same way whatever runs beside it. A baseline, and the load of the
 * throughput model.
 *
 * Options: `p` (0 to 1, default 0.1), `guest` (as in R-Stitch).
 */
export function randomRouter(context: RouterContext): Router {
  const options = readOptions(NAME, context, {
    p: { kind: 'number', default: 0.1, min: 0, max: 1 },
    guest: { kind: 'model' },
  });
  const { self, home } = context;
  const guest = guestModel(NAME, context, options.guest);
  const atHome = ({ sampling, position }: RouteRow): number =>
    uniform({ seed: sampling.seed, position, model: self, purpose: 'route' }) < options.p ? guest : STAY;
  const atGuest = (): number => home;
  return {
    name: NAME,
    needs: {},
    onHandoff: self === home ? 'discard' : 'keep',
    route: (rows) => rows.map(self === home ? atHome : atGuest),
  };
}
