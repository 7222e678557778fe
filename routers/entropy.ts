/**
 * Entropy of softmax(logits) in nats: −Σ p ln p with p ln p = 0 at p = 0, so that masked tokens (−∞) are
 * harmless. NaN where the distribution does not exist: NaN or +∞ among the logits, nothing but −∞, or no
 * logits at all.
 */
export function entropyNats(logits: ArrayLike<number>): number {
  let best = -Infinity;
  for (let i = 0; i < logits.length; i += 1) {
    const logit = logits[i] ?? NaN;
    if (Number.isNaN(logit)) return NaN;
    best = Math.max(best, logit);
  }
  if (!Number.isFinite(best)) return NaN;
  let sum = 0;
  let weighted = 0;
  for (let i = 0; i < logits.length; i += 1) {
    const shifted = (logits[i] ?? NaN) - best;
    const weight = Math.exp(shifted);
    if (weight === 0) continue;
    sum += weight;
    weighted += weight * shifted;
  }
  // H = ln Σe^s − Σ s e^s / Σe^s; rounding may leave a certain row a hair below 0.
  return Math.max(0, Math.log(sum) - weighted / sum);
}

/**
 * Entropy over ln(number of logits), in [0, 1] (R-Stitch, arXiv 2507.17307, v4 and later). A vocabulary of
 * one token has entropy 0. The engine computes the same signal in its graph; this is for checks and replays.
 */
export function normalizedEntropy(logits: ArrayLike<number>): number {
  const nats = entropyNats(logits);
  return logits.length === 1 ? nats : nats / Math.log(logits.length);
}
