import { stepTicks, type CompleteSpec } from './chain-spec.ts';

/**
 * A policy of the whole system: changes a state in place by starting idle models. Waiting, running and remaining
 * ticks of model i stand at 3i, 3i + 1 and 3i + 2. Called once per epoch, after all completions were routed.
 */
export type Starter = (state: number[]) => void;

/** Starts one idle model with everything that waits there. */
export function startModel(state: number[], model: number, ticks: number): void {
  const at = 3 * model;
  state[at + 1] = state[at] ?? 0;
  state[at] = 0;
  state[at + 2] = ticks;
}

/** Idle models with at least thresholds[i] waiting start. */
export function thresholdStarter(spec: CompleteSpec, thresholds: readonly number[]): Starter {
  const lengths = stepTicks(spec);
  return (state) => {
    for (const [model, threshold] of thresholds.entries()) {
      if (state[3 * model + 1] !== 0 || (state[3 * model] ?? 0) < threshold) continue;
      startModel(state, model, lengths[model] ?? 1);
    }
  };
}
