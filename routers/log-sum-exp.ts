/** ln Σ exp(x), without overflow; NaN where a logit is NaN. */
export function logSumExp(logits: ArrayLike<number>): number {
  let most = -Infinity;
  for (let i = 0; i < logits.length; i += 1) most = Math.max(most, logits[i] ?? NaN);
  if (!Number.isFinite(most)) return most;
  let sum = 0;
  for (let i = 0; i < logits.length; i += 1) sum += Math.exp((logits[i] ?? NaN) - most);
  return most + Math.log(sum);
}
