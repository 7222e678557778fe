import { STAY } from '../core/request.ts';
import { guestModel } from './guest-model.ts';
import { readOptions } from './options.ts';
import type { RouteRow, Router, RouterContext } from './router.ts';

const NAME = 'r-stitch';
const MAX_SPAN_TOKENS = 0x7fff_ffff;

/**
 * R-Stitch (arXiv 2507.17307): a token whose distribution is uncertain goes to the large model, which keeps
 * the request until it is certain. The signal is the normalized entropy H of the raw logits.
 *
 * - home (small model): H > threshold → discard the token, hand off;
 * - guest (large model): H ≤ threshold → keep the token, hand back; else stay. A guest that discarded as
 *   well would bounce for ever at every position where the small model doubts and the large one does not.
 *
 * H = NaN goes to the large model, and returns from it.
 *
 * Options: `threshold` (0 to 1, default 0.03), `maxSpanTokens` (tokens that the guest writes at most before the home is
 * asked again, however unsure the guest is; an integer ≥ 1, no limit by default; 1 = the guest writes single tokens, which
 * is plain routing by the small model's entropy), `guest` (name of the large model; default: the last model of the
 * configuration that is not the home).
 */
export function rStitch(context: RouterContext): Router {
  const options = readOptions(NAME, context, {
    threshold: { kind: 'number', default: 0.03, min: 0, max: 1 },
    maxSpanTokens: { kind: 'optional-number', min: 1, max: MAX_SPAN_TOKENS, isInteger: true },
    guest: { kind: 'model' },
  });
  const { self, home } = context;
  const { threshold, maxSpanTokens = Infinity } = options;
  const guest = guestModel(NAME, context, options.guest);
  // Both comparisons are written so that NaN takes the documented side.
  const atHome = (row: RouteRow): number => (row.normalizedEntropy <= threshold ? STAY : guest);
  const atGuest = (row: RouteRow): number =>
    row.normalizedEntropy > threshold && row.numSinceArrival + 1 < maxSpanTokens ? STAY : home;
  return {
    name: NAME,
    needs: {},
    onHandoff: self === home ? 'discard' : 'keep',
    route: (rows) => rows.map(self === home ? atHome : atGuest),
  };
}
