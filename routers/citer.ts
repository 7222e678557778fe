import { guestModel } from './guest-model.ts';
import { atGuest, atHome } from './one-token-guest.ts';
import { readOptions } from './options.ts';
import { routerHead, scoreOf } from './router-head.ts';
import type { Router, RouterContext } from './router.ts';

const NAME = 'citer';
const ARCHITECTURE = 'BatchNormMlp';
/** The default of the authors' code; their README runs 0.9. */
const DEFAULT_THRESHOLD = 0.95;

/**
 * CITER (arXiv 2502.01976): a network on the small model's hidden vector says how confident one may be that its next
 * token does not hurt the final answer. High means: the small model writes (the other way round than R2R).
 *
 * - home: confidence < threshold → discard the token, hand off;
 * - guest: writes one token and returns.
 *
 * NaN goes to the large model. Options: `head` (file of the network), `threshold` (0 to 1; default: the one stored in
 * the file by training, else 0.95), `guest` (as in R-Stitch).
 */
export function citer(context: RouterContext): Router {
  const options = readOptions(NAME, context, {
    head: { kind: 'file' },
    threshold: { kind: 'optional-number', min: 0, max: 1 },
    guest: { kind: 'model' },
  });
  const guest = guestModel(NAME, context, options.guest);
  if (context.self !== context.home) return atGuest(NAME, context.home);
  const head = routerHead(NAME, options.head, ARCHITECTURE);
  const threshold = options.threshold ?? head.threshold ?? DEFAULT_THRESHOLD;
  return atHome(NAME, guest, {
    needs: { heads: [head.spec] },
    signal: (row) => scoreOf(row, head.spec),
    isSure: (confidence) => confidence >= threshold,
  });
}
