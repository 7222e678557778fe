import { uniform } from '../../core/random.ts';
import { normalizedEntropy } from '../../routers/entropy.ts';
import { logSumExp } from '../../routers/log-sum-exp.ts';
import { hashTokens, type ScriptedModel } from './chain-engine.ts';

/** Token `u` of the way through the distribution of these logits. */
export function drawFrom(logits: readonly number[], u: number): number {
  const total = logSumExp(logits);
  let sum = 0;
  for (const [id, logit] of logits.entries()) {
    sum += Math.exp(logit - total);
    if (u < sum) return id;
  }
  return logits.length - 1;
}

/**
 * A scripted model of a small vocabulary that has logits and a head: both change with every token of the sequence.
 * Draws are keyed as an engine's. Token 0 is rare.
 * @param numExtra logits after the vocabulary's, of which no token is drawn
 */
export function wordModel(model: number, numWords = 24, numExtra = 0): ScriptedModel {
  return (tokens, sampling) => {
    const logits = Array.from(
      { length: numWords + numExtra },
      (_, id) => (hashTokens(tokens, 1000 * model + id) / 2 ** 32) * 6 - (id === 0 ? 2 : 0),
    );
    const words = logits.slice(0, numWords);
    const key = { seed: sampling.seed, position: tokens.length, model, purpose: 'sample' } as const;
    const token =
      sampling.temperature > 0 ? drawFrom(words, uniform(key)) : words.indexOf(Math.max(...words));
    const score = hashTokens(tokens, 77 + model) / 2 ** 32;
    return { token, entropy: normalizedEntropy(words), score, logits };
  };
}
