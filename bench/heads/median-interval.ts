import { median } from '../handoff/statistics.ts';

const Z95 = 1.96;

/**
 * Median with its 95 % interval from the order of the values alone: their ranks n/2 ± 1.96·√n/2. No assumption about
 * how the values are distributed, which for times of steps nobody knows.
 */
export function medianInterval(values: readonly number[]): { median: number; low: number; high: number } {
  const sorted = [...values].sort((a, b) => a - b);
  const half = (Z95 * Math.sqrt(sorted.length)) / 2;
  const at = (rank: number): number =>
    sorted[Math.min(sorted.length - 1, Math.max(0, Math.round(rank)))] ?? NaN;
  const middle = (sorted.length - 1) / 2;
  return { median: median(values), low: at(middle - half), high: at(middle + half) };
}
