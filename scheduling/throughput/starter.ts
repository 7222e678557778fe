import { stepTicks, type CompleteSpec, type StepTicks } from './chain-spec.ts';

/**
 * The state of the system: waiting, rows running and remaining ticks of model i stand at 3i, 3i + 1 and 3i + 2.
 * Remaining ticks are work: with contention they last longer.
 */
export type ChainState = Int32Array;

/**
 * A policy of the whole system: changes a state in place by starting idle models. Called once per epoch, after
 * all completions were routed. It must not keep the array: it is used again for the next state.
 */
export type Starter = (state: ChainState) => void;

/** Starts one idle model with everything that waits there, up to its largest step. */
export function startModel(state: ChainState, model: number, ticks: StepTicks): void {
  const at = 3 * model;
  const lengths = ticks[model];
  if (lengths === undefined) return;
  const waiting = state[at] ?? 0;
  const rows = Math.min(waiting, lengths.length - 1);
  state[at] = waiting - rows;
  state[at + 1] = rows;
  state[at + 2] = lengths[rows] ?? 0;
}

/** Idle models with at least thresholds[i] waiting, or with a full step, start. */
export function thresholdStarter(spec: CompleteSpec, thresholds: readonly number[]): Starter {
  const ticks = stepTicks(spec);
  const needed = Int32Array.from(ticks, (lengths, model) =>
    Math.max(1, Math.min(thresholds[model] ?? 1, lengths.length - 1)),
  );
  return (state) => {
    for (let model = 0; model < needed.length; model += 1) {
      const isIdle = state[3 * model + 1] === 0;
      if (isIdle && (state[3 * model] ?? 0) >= (needed[model] ?? 1)) startModel(state, model, ticks);
    }
  };
}
