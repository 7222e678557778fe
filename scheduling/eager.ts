import type { StartPolicy } from './policy.ts';

/** Starts at once with whatever waits: the lowest delay of each step, the smallest batches. */
export function eagerPolicy(): StartPolicy {
  return { name: 'eager', decide: () => ({ kind: 'start' }) };
}
