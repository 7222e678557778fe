/**
 * How many steps in a row a request has at its home before it leaves, the leaving one included. All laws have the
 * mean that the routing probabilities say.
 */
export type RunLengthLaw = 'geometric' | 'deterministic' | 'bimodal' | 'bursty' | 'heavy-tailed';

/** Share of short runs, and their length, in the bimodal law. */
const SHORT_SHARE = 0.5;
const SHORT_STEPS = 1;
/** Tail exponent of the Pareto law: finite mean, infinite variance. */
const TAIL = 1.5;
/** In the bursty law three of four runs have one step, as within a hard passage, and the others make up for it. */
const BURST_SHARE = 0.75;

/**
 * Steps of one run.
 * @param mean mean run length, ≥ 1
 * @param u uniform in [0, 1)
 */
export function runLength(law: RunLengthLaw, mean: number, u: number): number {
  switch (law) {
    case 'geometric':
      return geometric(mean, u);
    case 'deterministic':
      return roundedAtRandom(mean, u);
    case 'bimodal': // short ones, and long ones of one length
      return mixture(SHORT_SHARE, mean, u, (long, v) => roundedAtRandom(long, v));
    case 'bursty': // short ones, and geometric ones
      return mixture(BURST_SHARE, mean, u, geometric);
    case 'heavy-tailed':
      return heavyTailed(mean, u);
  }
}

function geometric(mean: number, u: number): number {
  return mean <= 1 ? 1 : 1 + Math.floor(Math.log(1 - u) / Math.log(1 - 1 / mean));
}

/** One of the two integers around a mean, so that the mean is kept. */
function roundedAtRandom(mean: number, u: number): number {
  const whole = Math.floor(mean);
  return whole + (u < mean - whole ? 1 : 0);
}

function mixture(
  shortShare: number,
  mean: number,
  u: number,
  long: (mean: number, u: number) => number,
): number {
  if (u < shortShare) return SHORT_STEPS;
  const longMean = (mean - shortShare * SHORT_STEPS) / (1 - shortShare);
  return long(longMean, (u - shortShare) / (1 - shortShare));
}

/** 1 and a Pareto (Lomax) number of further steps, its fraction rounded at random. */
function heavyTailed(mean: number, u: number): number {
  const scale = (mean - 1) * (TAIL - 1);
  const further = scale * ((1 - u) ** (-1 / TAIL) - 1);
  const low = Math.floor(u * 0x1_0000) / 0x1_0000; // the digits that do not matter above round it
  return 1 + roundedAtRandom(further, (u - low) * 0x1_0000);
}
