/** Milliseconds of each variant, one entry per round. */
export type Samples = Record<string, number[]>;

/**
 * Runs the variants in turn, round after round, so that a disturbance of the machine hits all of them alike.
 * @param variants each returns what it wants counted, in milliseconds
 */
export function interleave(
  variants: Record<string, () => number>,
  rounds: number,
  warmUpRounds = 3,
): Samples {
  const samples: Samples = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(variants)) {
      const ms = run();
      if (round >= 0) samples[name]?.push(ms);
    }
  }
  return samples;
}

export function timed(run: () => void): number {
  const startMs = performance.now();
  run();
  return performance.now() - startMs;
}
