import { readFileSync } from 'node:fs';

/** One worked example of a routing algorithm; `input` and `expected` depend on the kind. */
export interface GoldenVector<Input = unknown, Expected = unknown> {
  id: string;
  algorithm: string;
  role: string;
  kind: string;
  input: Input;
  expected: Expected;
  tolerance?: number;
}

const file = new URL('../../fixtures/golden/routing-vectors.json', import.meta.url);
const { vectors } = JSON.parse(readFileSync(file, 'utf8')) as { vectors: GoldenVector[] };

/** All vectors of an algorithm and kind; a kind without vectors is a mistake of the test. */
export function goldenVectors<Input, Expected>(
  algorithm: string,
  kind: string,
): GoldenVector<Input, Expected>[] {
  const found = vectors.filter((vector) => vector.algorithm === algorithm && vector.kind === kind);
  if (found.length === 0) throw new Error(`no vectors of ${algorithm}/${kind}`);
  return found as GoldenVector<Input, Expected>[];
}

/** In the file, null stands for −∞. */
export function logitsOf(values: readonly (number | null)[]): Float64Array {
  return Float64Array.from(values, (value) => value ?? -Infinity);
}

/** Ids of every vector, to prove that none is left out. */
export function goldenIds(algorithms: readonly string[]): string[] {
  return vectors.filter((vector) => algorithms.includes(vector.algorithm)).map((vector) => vector.id);
}
