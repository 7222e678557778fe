/** Thresholds of home and guest. */
export type Thresholds = readonly [number, number];

/** Values of B1 that are tried with more than 8 requests alive: a sweep of all would take an hour. */
const COARSE = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32];

/** Nobody could start with more than this. */
const isFeasible = ([home, guest]: Thresholds, concurrency: number): boolean =>
  home - 1 + guest - 1 < concurrency;

/**
 * What a sweep tries: (1, B1) for all B1 (coarser above 8 requests), some pairs in which the home waits too, and those
 * that take turns (B0 + B1 = N + 1).
 */
export function candidatesOf(concurrency: number): Thresholds[] {
  const all = Array.from({ length: concurrency }, (_, i) => i + 1);
  const guests = concurrency <= 8 ? all : COARSE.filter((threshold) => threshold <= concurrency);
  const part = (share: number): number => Math.max(1, Math.round(concurrency * share));
  const pairs: Thresholds[] = [
    ...guests.map((guest): Thresholds => [1, guest]),
    [2, part(1 / 4)],
    [2, part(1 / 2)],
    [part(1 / 4), part(1 / 2)],
    [part(3 / 8), part(5 / 8)],
    [part(1 / 2), part(1 / 2)],
    [part(3 / 4), part(1 / 4)],
  ];
  const keys = new Set<string>();
  return pairs.filter((pair) => {
    const key = pair.join();
    if (keys.has(key) || !isFeasible(pair, concurrency)) return false;
    keys.add(key);
    return true;
  });
}
