/**
 * The vector that a linear map comes nearest to leaving as it is, in the Krylov space of a start vector: refined
 * Arnoldi (Golub and Greif, "An Arnoldi-type algorithm for computing PageRank", BIT 46, 2006). Unlike plain
 * iteration it is not held up by eigenvalues near 1 (a chain that falls into parts it hardly leaves) or elsewhere on
 * the unit circle (a chain that goes round in phases).
 */
export function nearlyFixedVector(
  apply: (from: Float64Array, to: Float64Array) => void,
  start: Float64Array,
  dimensions: number,
): Float64Array {
  const basis = [scaled(start, 1 / norm(start))];
  /** Column j: coefficients of the image of basis vector j. */
  const columns: number[][] = [];
  for (let j = 0; j < dimensions; j += 1) {
    const image = new Float64Array(start.length);
    apply(basis[j] ?? start, image);
    const size = norm(image);
    const column = orthogonalize(image, basis);
    const rest = norm(image);
    columns.push([...column, rest]);
    if (rest <= 1e-13 * size) break; // the space is closed: the answer is exact
    basis.push(scaled(image, 1 / rest));
  }
  const weights = smallestSingularVector(columns);
  const found = new Float64Array(start.length);
  weights.forEach((weight, j) => addScaled(found, basis[j] ?? start, weight));
  return found;
}

const norm = (vector: Float64Array): number => Math.sqrt(dot(vector, vector));

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

function scaled(vector: Float64Array, factor: number): Float64Array {
  return vector.map((value) => value * factor);
}

function addScaled(target: Float64Array, vector: Float64Array, factor: number): void {
  for (let i = 0; i < target.length; i += 1) target[i] = (target[i] ?? 0) + factor * (vector[i] ?? 0);
}

/** Takes from `vector` its parts along the basis, twice for the sake of rounding, and returns them. */
function orthogonalize(vector: Float64Array, basis: readonly Float64Array[]): number[] {
  const parts = basis.map(() => 0);
  for (let round = 0; round < 2; round += 1) {
    for (const [i, direction] of basis.entries()) {
      const part = dot(vector, direction);
      parts[i] = (parts[i] ?? 0) + part;
      addScaled(vector, direction, -part);
    }
  }
  return parts;
}

/** The unit vector y with the least |(H − I) y|, for a Hessenberg matrix H given by columns (column j: j + 2 entries). */
function smallestSingularVector(hessenberg: readonly (readonly number[])[]): Float64Array {
  const columns = hessenberg.map((column, j) =>
    Float64Array.from(column, (value, i) => (i === j ? value - 1 : value)),
  );
  const r = triangularize(columns);
  const n = r.length;
  let y = new Float64Array(n).fill(1 / Math.sqrt(n));
  for (let round = 0; round < 6; round += 1) {
    const z = solveUpper(r, solveUpperTransposed(r, y));
    y = scaled(z, 1 / norm(z)) as Float64Array<ArrayBuffer>;
  }
  return y;
}

/** Givens rotations: the upper triangle R of H = QR, by columns, its diagonal kept away from 0. */
function triangularize(columns: readonly Float64Array[]): readonly Float64Array[] {
  const rotations: [number, number][] = [];
  let largest = 0;
  for (const [j, column] of columns.entries()) {
    for (const [i, [cos, sin]] of rotations.entries()) {
      const [a, b] = [column[i] ?? 0, column[i + 1] ?? 0];
      column[i] = cos * a + sin * b;
      column[i + 1] = cos * b - sin * a;
    }
    const [a, b] = [column[j] ?? 0, column[j + 1] ?? 0];
    const length = Math.hypot(a, b);
    rotations.push(length === 0 ? [1, 0] : [a / length, b / length]);
    largest = Math.max(largest, length);
    column[j] = Math.max(length, 1e-15 * Math.max(largest, 1));
  }
  return columns;
}

function solveUpper(r: readonly Float64Array[], right: Float64Array): Float64Array {
  const x = right.slice();
  for (let j = x.length - 1; j >= 0; j -= 1) {
    const value = (x[j] ?? 0) / (r[j]?.[j] ?? 1);
    x[j] = value;
    for (let i = 0; i < j; i += 1) x[i] = (x[i] ?? 0) - value * (r[j]?.[i] ?? 0);
  }
  return x;
}

function solveUpperTransposed(r: readonly Float64Array[], right: Float64Array): Float64Array {
  const x = right.slice();
  for (let j = 0; j < x.length; j += 1) {
    let value = x[j] ?? 0;
    for (let i = 0; i < j; i += 1) value -= (r[j]?.[i] ?? 0) * (x[i] ?? 0);
    x[j] = value / (r[j]?.[j] ?? 1);
  }
  return x;
}
