export interface ThresholdSearch {
  /** The value of thresholds, larger is better. Called once for each. */
  evaluate: (thresholds: readonly number[]) => number;
  /** Where to begin; the best of them is improved. */
  starts: readonly (readonly number[])[];
  /** Largest threshold of each model; equal to 1 keeps a model out of the search. */
  largest: readonly number[];
  /** Better by less than this share is the same: no step is taken for it. */
  gain: number;
}

export interface FoundThresholds {
  thresholds: readonly number[];
  value: number;
}

/**
 * A good point of a bumpy, flat hill: pattern search along the axes and along exchanges of two models, with steps that
 * halve. It may end at a local optimum; the starts come from formulas and from the neighbouring number of requests, so
 * that few evaluations are needed.
 */
export function searchThresholds({ evaluate, starts, largest, gain }: ThresholdSearch): FoundThresholds {
  const known = new Map<string, number>();
  const valueOf = (thresholds: readonly number[]): number => {
    const key = thresholds.join();
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = evaluate(thresholds)));
    return value;
  };
  const clip = (thresholds: readonly number[]): readonly number[] =>
    thresholds.map((threshold, i) => Math.max(1, Math.min(threshold, largest[i] ?? 1)));
  const better = (a: FoundThresholds, thresholds: readonly number[]): FoundThresholds => {
    const value = valueOf(thresholds);
    return value > a.value * (1 + gain) ? { thresholds, value } : a;
  };
  let best: FoundThresholds = { thresholds: largest.map(() => 1), value: -Infinity };
  for (const start of starts) best = better(best, clip(start));
  for (let step = firstStep(largest); step >= 1;) {
    const before = best;
    for (const move of moves(largest.length, step))
      best = better(best, clip(before.thresholds.map((value, i) => value + (move[i] ?? 0))));
    if (best === before) step = Math.floor(step / 2);
  }
  return best;
}

function firstStep(largest: readonly number[]): number {
  return Math.max(...largest) > 16 ? 4 : Math.max(...largest) > 4 ? 2 : 1;
}

/** Up or down with one model, or up with one and down with another. */
function moves(numModels: number, step: number): number[][] {
  const found: number[][] = [];
  for (let i = 0; i < numModels; i += 1) {
    for (const sign of [-step, step]) found.push(unit(numModels, i, sign));
    for (let j = 0; j < numModels; j += 1)
      if (j !== i) found.push(unit(numModels, i, step).map((value, m) => (m === j ? -step : value)));
  }
  return found;
}

const unit = (length: number, at: number, value: number): number[] =>
  Array.from({ length }, (_, i) => (i === at ? value : 0));
