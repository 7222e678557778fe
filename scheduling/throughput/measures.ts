import type { Chain } from './build-chain.ts';
import type { CompleteSpec } from './chain-spec.ts';

/** What a stationary distribution says of the system. */
export interface Measures {
  tokensPerSecond: number;
  meanRows: number[];
  admissionDelayMs: number[];
  utilisation: number[];
}

/** Sums over one period of the chain, per model; times in ticks. */
class ModelSums {
  steps = 0;
  rows = 0;
  runningTicks = 0;
  waitingTicks = 0;
}

/**
 * Averages over the stationary distribution `pi` of the embedded chain. Delays follow from Little's law: requests
 * waiting on average ÷ requests that start per unit of time.
 */
export function measures(spec: CompleteSpec, chain: Chain, pi: Float64Array): Measures {
  const models = spec.stepMs.map(() => new ModelSums());
  let tokens = 0;
  let ticks = 0;
  for (let s = 0; s < chain.numStates; s += 1) {
    const weight = pi[s] ?? 0;
    if (weight === 0) continue;
    tokens += weight * (chain.tokens[s] ?? 0);
    ticks += weight * (chain.ticks[s] ?? 0);
    addState(models, chain, s, weight);
  }
  return {
    tokensPerSecond: tokens / ((ticks * spec.quantumMs) / 1000),
    meanRows: models.map(({ rows, steps }) => (steps === 0 ? 0 : rows / steps)),
    admissionDelayMs: models.map(({ waitingTicks, rows }) =>
      rows === 0 ? 0 : (waitingTicks / rows) * spec.quantumMs,
    ),
    utilisation: models.map(({ runningTicks }) => runningTicks / ticks),
  };
}

function addState(models: readonly ModelSums[], chain: Chain, s: number, weight: number): void {
  const { states, numModels } = chain;
  const base = 3 * numModels * s;
  const lasts = weight * (chain.ticks[s] ?? 0);
  let shortest = Infinity;
  for (let at = base; at < base + 3 * numModels; at += 3)
    if (states[at + 1] !== 0) shortest = Math.min(shortest, states[at + 2] ?? 0);
  for (const [model, sums] of models.entries()) {
    const at = base + 3 * model;
    const rows = states[at + 1] ?? 0;
    sums.waitingTicks += lasts * (states[at] ?? 0);
    if (rows === 0) continue;
    sums.runningTicks += lasts;
    if (states[at + 2] !== shortest) continue;
    sums.steps += weight;
    sums.rows += weight * rows;
  }
}
