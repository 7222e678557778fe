import type { ChainSpec } from '../../../../scheduling/throughput-model.ts';

/** One token at the small model, or at the large one and back. */
export function pair(p: number, concurrency: number, change: Partial<ChainSpec> = {}): ChainSpec {
  return {
    routing: [
      [1 - p, p],
      [1, 0],
    ],
    commits: [
      [1, 0],
      [1, 0],
    ],
    stepMs: [6, 27.9],
    concurrency,
    ...change,
  };
}

/** A cascade of three: the second model may pass a request on to the third. */
export function cascade(
  p: readonly [number, number, number],
  concurrency: number,
  change: Partial<ChainSpec> = {},
): ChainSpec {
  const [p1, p2, q] = p;
  return {
    routing: [
      [1 - p1 - p2, p1, p2],
      [1 - q, 0, q],
      [1, 0, 0],
    ],
    commits: [
      [1, 0, 0],
      [1, 0, 0],
      [1, 0, 0],
    ],
    stepMs: [6, 12.3, 27.9],
    concurrency,
    ...change,
  };
}

/** A small generator of its own, so that these tests depend on no other code. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
