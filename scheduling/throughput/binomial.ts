import { arrivalLaw } from './arrivals.ts';

/** Probability of 0 … n successes in n independent trials. */
export function binomialLaw(n: number, p: number): number[] {
  const law = arrivalLaw([p, 1 - p], n);
  const chances = new Array<number>(n + 1).fill(0);
  law.probability.forEach((probability, o) => (chances[law.counts[2 * o] ?? 0] = probability));
  return chances;
}
