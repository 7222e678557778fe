import type { ClassifierNet, Linear, MlpNet } from './head-files.ts';

/** The heads in double precision, one row at a time, written from the algorithms' formulas. */

const apply = ({ w, b }: Linear, x: readonly number[]): number[] =>
  w.map((row, i) => row.reduce((sum, weight, j) => sum + weight * (x[j] ?? NaN), b[i] ?? NaN));

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

function layerNorm(x: readonly number[], { g, b }: { g: number[]; b: number[] }, eps = 1e-5): number[] {
  const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
  const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
  return x.map((value, i) => ((value - mean) / Math.sqrt(variance + eps)) * (g[i] ?? NaN) + (b[i] ?? NaN));
}

/** Error function by its series, or by its continued fraction where that converges better. */
function erf(x: number): number {
  const z = Math.abs(x);
  if (z > 3) {
    let fraction = 0;
    for (let k = 60; k >= 1; k -= 1) fraction = k / 2 / (z + fraction);
    return Math.sign(x) * (1 - Math.exp(-z * z) / Math.sqrt(Math.PI) / (z + fraction));
  }
  let [term, sum] = [x, x];
  for (let n = 1; n < 80; n += 1) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

const gelu = (x: number): number => (x / 2) * (1 + erf(x / Math.SQRT2));

/** R2R: probability that the token diverges. */
export function classifierScore(
  net: ClassifierNet,
  hidden: readonly number[],
  embedding: readonly number[],
  topValues: readonly number[],
): number {
  const joined = [...hidden, ...embedding, ...apply(net.logitsProjection, topValues)];
  let x = apply(net.inputProjection, apply(net.combinedProjection, joined));
  for (const { norm, up, down, skip } of net.blocks) {
    const change = apply(down, apply(up, layerNorm(x, norm)).map(gelu));
    x = (skip ? apply(skip, x) : x).map((value, i) => value + (change[i] ?? NaN));
  }
  return sigmoid(apply(net.out, layerNorm(x, net.outNorm))[0] ?? NaN);
}

/** CITER: confidence in the small model. */
export function mlpScore({ fc1, bn, fc2, head }: MlpNet, hidden: readonly number[], eps = 1e-5): number {
  const inner = apply(fc1, hidden).map((value, i) => {
    const scale = (bn.g[i] ?? NaN) / Math.sqrt((bn.var[i] ?? NaN) + eps);
    return Math.max(0, (value - (bn.mean[i] ?? NaN)) * scale + (bn.b[i] ?? NaN));
  });
  return sigmoid(apply(head, apply(fc2, inner))[0] ?? NaN);
}

/** Co-LLM: probability of deferring. */
export function linearScore(weight: readonly number[], bias: number, hidden: readonly number[]): number {
  return sigmoid(weight.reduce((sum, value, i) => sum + value * (hidden[i] ?? NaN), bias));
}
