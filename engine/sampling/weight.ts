/**
 * Weight of a token relative to the best one at a temperature above 0. The short list and the full row
 * must compute the same bits, so both call this.
 */
export function weightOf(logit: number, best: number, temperature: number): number {
  return Math.exp((logit - best) / temperature);
}
