import { uniform } from '../core/random.ts';
import { STAY, type ModelId } from '../core/request.ts';
import { ensembleWeights } from './ensemble-weights.ts';
import type { Router, RouterContext } from './router.ts';

const NAME = 'ensemble';

/**
 * Mixture-model-like ensemble (arXiv 2605.00419): each token is written by a model drawn with fixed probabilities λ.
 * A model drawn and then a token drawn from it follow exactly the mixture Σ λ_i p_i, with one forward pass per token
 * instead of one per model. All models route alike: the token stays, and the draw for the next position says
 * who writes it. The first position is drawn at admission; kept at the home instead, it would be biased to the home.
 *
 * Draws are keyed by seed and position alone, so every model comes to the same answer. The law needs sampling: at
 * temperature 0 the answer is a random mix of greedy choices, which the log warns of once.
 *
 * Options: `weights` (probability by name of every model, of sum 1; default: equal).
 */
export function ensemble(context: RouterContext): Router {
  const weights = ensembleWeights(NAME, context);
  const writerOf = (seed: number, position: number): ModelId =>
    drawModel(weights, uniform({ seed, position, model: 0, purpose: 'route' }));
  let hasWarned = false;
  return {
    name: NAME,
    needs: {},
    onHandoff: 'keep',
    route: (rows) =>
      rows.map(({ sampling, position }) => {
        const writer = writerOf(sampling.seed, position + 1);
        return writer === context.self ? STAY : writer;
      }),
    first: (view, sampling) => {
      if (sampling.temperature === 0 && !hasWarned) {
        hasWarned = true;
        context.warn?.(
          `router ${NAME}: at temperature 0 the answer does not follow the mixture of the models`,
        );
      }
      return writerOf(sampling.seed, view.tokens.length);
    },
  };
}

/** The first model k with u < λ_1 + … + λ_k; the last one with a weight where rounding leaves a gap. */
function drawModel(weights: readonly number[], u: number): ModelId {
  let sum = 0;
  for (const [index, weight] of weights.entries()) {
    sum += weight;
    if (u < sum) return index + 1;
  }
  return weights.findLastIndex((weight) => weight > 0) + 1;
}
