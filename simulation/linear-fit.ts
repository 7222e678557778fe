export interface LinearFit {
  /** Value at x = 0. */
  intercept: number;
  slopes: number[];
  /** Sum of squared residuals. */
  squares: number;
  /** Variance of the intercept over the variance of one residual. */
  interceptLeverage: number;
}

/** Least squares y = intercept + slopes · x; columns that are constant or follow from others get slope 0. */
export function linearFit(y: readonly number[], xs: readonly (readonly number[])[]): LinearFit {
  const n = y.length;
  const mean = (values: readonly number[]): number => values.reduce((sum, v) => sum + v, 0) / n;
  const yMean = mean(y);
  const xMeans = xs.map(mean);
  const centred = xs.map((x, k) => x.map((value) => value - (xMeans[k] ?? 0)));
  let residuals = y.map((value) => value - yMean);
  const slopes = new Array<number>(xs.length).fill(0);
  let intercept = yMean;
  let interceptLeverage = 1 / n;
  // Gram–Schmidt: each direction is what a column adds to those before it.
  const directions: { values: number[]; combination: number[]; square: number }[] = [];
  centred.forEach((column, k) => {
    let values = [...column];
    const combination = slopes.map((_, j): number => (j === k ? 1 : 0));
    for (const direction of directions) {
      const share = dot(values, direction.values) / direction.square;
      values = values.map((value, i) => value - share * (direction.values[i] ?? 0));
      direction.combination.forEach((c, j) => (combination[j] = (combination[j] ?? 0) - share * c));
    }
    const square = dot(values, values);
    if (square <= 1e-9 * dot(column, column) || square === 0) return;
    directions.push({ values, combination, square });
  });
  for (const { values, combination, square } of directions) {
    const slope = dot(residuals, values) / square;
    residuals = residuals.map((r, i) => r - slope * (values[i] ?? 0));
    combination.forEach((c, j) => (slopes[j] = (slopes[j] ?? 0) + slope * c));
    const atMean = combination.reduce((sum, c, j) => sum + c * (xMeans[j] ?? 0), 0);
    intercept -= slope * atMean;
    interceptLeverage += atMean ** 2 / square;
  }
  return { intercept, slopes, squares: dot(residuals, residuals), interceptLeverage };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}
