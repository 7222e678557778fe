import { guestModel } from './guest-model.ts';
import { atGuest, atHome } from './one-token-guest.ts';
import { readOptions } from './options.ts';
import { routerHead, scoreOf } from './router-head.ts';
import type { Router, RouterContext } from './router.ts';

const NAME = 'r2r';
const ARCHITECTURE = 'HiddenStatesTokenLMHeadLogitsClassifier';
/** What the authors' server uses unless told otherwise. */
const DEFAULT_THRESHOLD = 0.5;

/**
 * R2R (arXiv 2505.21600): a network predicts whether the small model's token would lead the answer elsewhere than
 * the large model's, from the hidden vector, the token's embedding and the largest logits.
 *
 * - home: probability ≥ threshold → discard the token, hand off;
 * - guest: writes one token and returns.
 *
 * NaN goes to the large model. Options: `head` (file of the network), `threshold` (0 to 1; default: the one stored in
 * the file by training, else 0.5), `guest` (as in R-Stitch).
 */
export function r2r(context: RouterContext): Router {
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
    isSure: (divergence) => divergence < threshold,
  });
}
