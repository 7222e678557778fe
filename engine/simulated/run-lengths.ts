/**
 * A law of run lengths 1, 2, …: how many steps a home makes until one hands off, that one included. Given by its
 * survival function; its mean is the sum of it.
 */
export interface RunLengths {
  readonly mean: number;
  /** A run length, from a uniform number in [0, 1). */
  sample(u: number): number;
  /** What is left of a run at a random moment (the equilibrium law): P(R = r) = P(G ≥ r) / mean. */
  sampleLeft(u: number): number;
}

/** Tail index of the heavy-tailed law: the mean exists, the variance grows with the cut-off. */
const TAIL_INDEX = 1.5;
/** The longest run of the heavy-tailed law, in means. */
const LONGEST_IN_MEANS = 100;
/** The geometric law ends where less than this is left. */
const NEGLIGIBLE = 1e-12;

/** Index of the first entry above `u`, + 1: the value that a cumulative table gives. */
function invert(cumulative: Float64Array, u: number): number {
  let low = 0;
  let high = cumulative.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cumulative[middle] ?? 1) > u) high = middle;
    else low = middle + 1;
  }
  return low + 1;
}

/** @param survival P(G ≥ k) for k = 1, 2, … */
function fromSurvival(survival: readonly number[]): RunLengths {
  const mean = survival.reduce((sum, value) => sum + value, 0);
  const lengths = Float64Array.from(survival, (_, i) => 1 - (survival[i + 1] ?? 0));
  let sum = 0;
  const left = Float64Array.from(survival, (value) => (sum += value / mean));
  return { mean, sample: (u) => invert(lengths, u), sampleLeft: (u) => invert(left, u) };
}

/** P(G ≥ k) of a law on the two integers around `mean`. */
const atLeast = (mean: number, k: number): number => Math.min(1, Math.max(0, mean - k + 1));

function survivalUpTo(longest: number, at: (k: number) => number): number[] {
  return Array.from({ length: Math.max(1, Math.ceil(longest)) }, (_, i) => at(i + 1));
}

/** Memoryless with the given mean: what independent draws give. */
export function geometricRuns(mean: number): RunLengths {
  const stay = 1 - 1 / mean;
  const longest = stay === 0 ? 1 : Math.log(NEGLIGIBLE) / Math.log(stay);
  return fromSurvival(survivalUpTo(longest, (k) => stay ** (k - 1)));
}

/** Always the mean; the two integers around it where it is none. */
export function deterministicRuns(mean: number): RunLengths {
  return fromSurvival(survivalUpTo(mean, (k) => atLeast(mean, k)));
}

/** Short or long with probability ½ each: a quarter of the mean (1 at least), and what is left of twice the mean. */
export function bimodalRuns(mean: number): RunLengths {
  const short = Math.max(1, mean / 4);
  const long = 2 * mean - short;
  return fromSurvival(survivalUpTo(long, (k) => (atLeast(short, k) + atLeast(long, k)) / 2));
}

/** P(G ≥ k) ∝ (1 + (k − 1) / x)^−1.5, cut off at 100 means; x makes the mean right. */
export function heavyTailedRuns(mean: number): RunLengths {
  const longest = Math.ceil(LONGEST_IN_MEANS * mean);
  const survival = (scale: number): number[] => {
    const tail = (k: number): number => (1 + (k - 1) / scale) ** -TAIL_INDEX;
    const cut = tail(longest + 1);
    return survivalUpTo(longest, (k) => (tail(k) - cut) / (1 - cut));
  };
  let low = 1e-9;
  let high = 10 * mean;
  for (let i = 0; i < 100; i += 1) {
    const middle = Math.sqrt(low * high);
    if (fromSurvival(survival(middle)).mean > mean) high = middle;
    else low = middle;
  }
  return fromSurvival(survival(low));
}
