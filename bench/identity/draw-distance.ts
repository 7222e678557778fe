import { uniform } from '../../core/random.ts';
import type { ModelId, SamplingParams } from '../../core/request.ts';

/**
 * How far the keyed draw lay from the edges of the interval of the token it chose: the tokens of the whole
 * vocabulary, best first (ties: lower id first), each as wide as its probability. Only for plain temperature
 * sampling (top_p, top_k and min_p off).
 */
export function drawDistance(
  logits: Float32Array,
  token: number,
  key: { model: ModelId; position: number; sampling: SamplingParams },
): number {
  const { temperature, seed } = key.sampling;
  const order = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0) || a - b);
  const best = logits[order[0] ?? 0] ?? 0;
  const weights = order.map((id) => Math.exp(((logits[id] ?? 0) - best) / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const rank = order.indexOf(token);
  const low = weights.slice(0, rank).reduce((sum, weight) => sum + weight, 0) / total;
  const high = low + (weights[rank] ?? 0) / total;
  const u = uniform({ seed, position: key.position, model: key.model, purpose: 'sample' });
  return Math.min(rank === 0 ? Infinity : Math.abs(u - low), Math.abs(high - u));
}
