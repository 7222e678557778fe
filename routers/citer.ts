import { oneTokenByHead, type HeadAlgorithm } from './one-token-by-head.ts';
import type { Router, RouterContext } from './router.ts';

const CITER: HeadAlgorithm = {
  name: 'citer',
  architecture: 'BatchNormMlp',
  /** The default of the authors' code; their README runs 0.9. */
  defaultThreshold: 0.95,
  isSure: (confidence, threshold) => confidence >= threshold,
};

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
  return oneTokenByHead(context, CITER);
}
