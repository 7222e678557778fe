import { composing } from './co-llm-compose.ts';
import { deferral, type Deferral } from './co-llm-deferral.ts';
import { guestModel } from './guest-model.ts';
import { atGuest, atHome } from './one-token-guest.ts';
import { optionError, readOptions } from './options.ts';
import type { Router, RouterContext } from './router.ts';

const NAME = 'co-llm';
const DEFAULT_THRESHOLD = 0.5;
const MAX_ID = 0x7fff_ffff;

/**
 * Co-LLM (arXiv 2403.03870): the base model learns when to let the assistant write. The signal g is the probability
 * of deferring: of a linear head on the hidden vector, or the sigmoid of the logit of an extra token that the base was
 * trained with (the last row of its head, which is never sampled: the model's tokenizer must not know it).
 *
 * - home (base): g > threshold → discard the token, hand off;
 * - guest (assistant): writes one token and returns. Strategy `defer`: its own; `compose`: the likeliest of
 *   (1 − g)·p_base + g·p_assistant over the tokens among the best 64 of either, at any temperature.
 *
 * NaN goes to the assistant, which then writes its own token. Options: `head` (file of the linear head) or `deferToken`
 * (id of the extra token; copies the whole row of logits), `threshold` (0 to 1; default: the one stored in the file by
 * training, else 0.5), `strategy` (`defer` by default), `guest` (as in R-Stitch).
 */
export function coLlm(context: RouterContext): Router {
  const options = readOptions(NAME, context, {
    head: { kind: 'file' },
    deferToken: { kind: 'optional-number', min: 1, max: MAX_ID },
    threshold: { kind: 'optional-number', min: 0, max: 1 },
    strategy: { kind: 'choice', words: ['defer', 'compose'] },
    guest: { kind: 'model' },
  });
  const guest = guestModel(NAME, context, options.guest);
  const isComposing = options.strategy === 'compose';
  if (context.self !== context.home) {
    const router = atGuest(NAME, context.home);
    return isComposing ? composing.atGuest(router) : router;
  }
  if ((options.head === undefined) === (options.deferToken === undefined))
    throw optionError(NAME, 'head', 'or "deferToken" must be given, one of them');
  const defers: Deferral = deferral(NAME, options);
  const threshold = options.threshold ?? defers.threshold ?? DEFAULT_THRESHOLD;
  const router = atHome(NAME, guest, {
    needs: defers.needs,
    signal: defers.probability,
    isSure: (g) => g <= threshold,
  });
  return isComposing ? composing.atHome(router, defers) : router;
}
