/** (I + P) / 2 has the long-run shares of P and no period; squared this often, rounding has taken over. */
const SQUARINGS = 60;

/** Share of steps that a single request spends at each model in the long run, starting at the first one. */
export function longRunShares(routing: readonly (readonly number[])[]): number[] {
  let lazy = routing.map((row, i) => row.map((p, j) => (p + (i === j ? 1 : 0)) / 2));
  for (let round = 0; round < SQUARINGS; round += 1) lazy = square(lazy);
  return lazy[0] ?? [];
}

/** The square of a stochastic matrix; rows are scaled to 1 so that rounding cannot add up. */
function square(matrix: readonly (readonly number[])[]): number[][] {
  return matrix.map((row) => {
    const product = row.map((_, j) => row.reduce((sum, value, k) => sum + value * (matrix[k]?.[j] ?? 0), 0));
    const total = product.reduce((sum, value) => sum + value, 0);
    return product.map((value) => value / total);
  });
}
