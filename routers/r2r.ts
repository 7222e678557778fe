import { oneTokenByHead, type HeadAlgorithm } from './one-token-by-head.ts';
import type { Router, RouterContext } from './router.ts';

const R2R: HeadAlgorithm = {
  name: 'r2r',
  architecture: 'HiddenStatesTokenLMHeadLogitsClassifier',
  /** What the authors' server uses unless told otherwise. */
  defaultThreshold: 0.5,
  isSure: (divergence, threshold) => divergence < threshold,
};

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
  return oneTokenByHead(context, R2R);
}
