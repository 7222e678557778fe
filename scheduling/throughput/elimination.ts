/** What leaves a state as rarely as this counts as never leaving it: dividing by less would overflow. */
const LEAST_OUT = 1e-300;

/**
 * The stationary distribution of a small dense chain by elimination without subtractions (Grassmann, Taksar and Heyman,
 * "Regenerative analysis and steady state distributions for Markov chains", Operations Research 33, 1985): precise to
 * rounding however slowly the chain mixes. Undefined where it falls apart (some states never lead to the others).
 *
 * @param p the matrix by rows; it is overwritten
 */
export function eliminated(p: Float64Array, n: number): Float64Array | undefined {
  for (let k = n - 1; k > 0; k -= 1) {
    const row = p.subarray(k * n, k * n + k);
    const out = row.reduce((sum, value) => sum + value, 0);
    if (!(out > LEAST_OUT)) return undefined;
    for (let i = 0; i < k; i += 1) {
      const into = (p[i * n + k] ?? 0) / out;
      p[i * n + k] = into;
      if (into === 0) continue;
      for (let j = 0; j < k; j += 1) p[i * n + j] = (p[i * n + j] ?? 0) + into * (row[j] ?? 0);
    }
  }
  const pi = new Float64Array(n);
  pi[0] = 1;
  let total = 1;
  for (let k = 1; k < n; k += 1) {
    let value = 0;
    for (let i = 0; i < k; i += 1) value += (pi[i] ?? 0) * (p[i * n + k] ?? 0);
    pi[k] = value;
    total += value;
  }
  return pi.map((value) => value / total);
}
