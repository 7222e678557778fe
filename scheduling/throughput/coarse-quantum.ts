import type { CompleteSpec } from './chain-spec.ts';

/** Ticks of the shortest step, in a coarse grid. */
const LEAST_TICKS = 3;
const MOST_TICKS = 10;
/** Relative error of the step times that one more tick (and thus more states) must save. */
const ERROR_PER_TICK = 0.0005;

/**
 * A tick for a first look at a system: the shortest step has 3 to 10 ticks, as many as it takes to keep the *ratios*
 * of the step times, since gains and losses depend on their phase (a step that is just shorter than a multiple of
 * another). 6 and 27.9 ms become 3 and 14 ticks of 2 ms.
 */
export function coarseQuantumMs({ stepMs, quantumMs }: CompleteSpec): number {
  const times = [...new Set(stepMs.flatMap((table) => table))];
  const shortestMs = Math.min(...times);
  let best = { quantumMs, cost: Infinity };
  for (let ticks = LEAST_TICKS; ticks <= MOST_TICKS; ticks += 1) {
    const candidateMs = shortestMs / ticks;
    if (candidateMs <= quantumMs) break;
    const errors = times.map((ms) => Math.abs((Math.round(ms / candidateMs) * candidateMs) / ms - 1));
    const cost = Math.max(...errors) + ERROR_PER_TICK * ticks;
    if (cost < best.cost) best = { quantumMs: candidateMs, cost };
  }
  return best.quantumMs;
}
