import { uniform } from '../../../../core/random.ts';

/** A reproducible stream of draws in [0, 1). */
export function stream(seed: number): () => number {
  let position = 0;
  return () => uniform({ seed, position: (position += 1), model: 1, purpose: 'simulation' });
}
