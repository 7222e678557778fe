import { thresholdPolicy } from '../threshold.ts';
import { longRunTokens } from './bounds.ts';
import { hasMoreStates, MAX_STATES, TooManyStatesError } from './build-chain.ts';
import { stepTicks, type CompleteSpec } from './chain-spec.ts';
import { samplePolicies } from './sample.ts';
import { thresholdStarter } from './starter.ts';
import { ThresholdSearch, type Evaluate } from './threshold-search.ts';

/** Rows of a sample: enough to tell thresholds apart that differ by half a percent, in some milliseconds. */
const ROWS = 40_000;
/** With fewer tokens than this per row a sample takes too long. */
const LEAST_TOKENS_PER_ROW = 1e-3;
/**
 * Thresholds that are sampled as this much below the best, relatively, may still be found to be the best: what a sample is
 * off by, and what a search by chains on a coarse grid of time is.
 */
const MARGIN = 0.01;
/** As many requests, or requests² × ticks of the longest step with two models, never made a chain that is too large. */
const FEW_REQUESTS = 8;
const FEW_OF_TWO = 1e7;
const NUM_COUNTED = 2;
/** Ways of routing no likelier than this are not followed: what is counted is at most what there is. */
const NEGLIGIBLE = 1e-5;

/**
 * Refuses a system before its thresholds are searched by chains, which takes minutes where they are too large: looks for
 * the best by samples, and counts the states of the smallest chains among those near it.
 *
 * @param climb the search for the best
 * @throws TooManyStatesError above `maxStates`
 */
export function refuseTooLarge(
  spec: CompleteSpec,
  climb: (search: ThresholdSearch) => void,
  maxStates = MAX_STATES,
): void {
  const tokensPerRow = longRunTokens(spec);
  if (isSurelySmall(spec) || tokensPerRow < LEAST_TOKENS_PER_ROW) return;
  const search = new ThresholdSearch(
    sampler(spec, ROWS * tokensPerRow),
    spec.stepMs.length,
    spec.concurrency,
  );
  climb(search);
  const ranking = search.ranking();
  const near = ranking.filter(({ value }) => value >= (1 - MARGIN) * (ranking[0]?.value ?? 0));
  const sum = (thresholds: readonly number[]): number => thresholds.reduce((a, b) => a + b, 0);
  // The longer models wait, the fewer states there are, by and large.
  const smallest = near.sort((a, b) => sum(b.thresholds) - sum(a.thresholds)).slice(0, NUM_COUNTED);
  const isTooLarge = smallest.every(({ thresholds }) =>
    hasMoreStates(spec, thresholdStarter(spec, thresholds), maxStates, NEGLIGIBLE),
  );
  if (isTooLarge) throw new TooManyStatesError(maxStates);
}

function isSurelySmall(spec: CompleteSpec): boolean {
  const { concurrency, stepMs } = spec;
  if (concurrency <= FEW_REQUESTS) return true;
  const longestTicks = Math.max(...stepTicks(spec).map((lengths) => Math.max(...lengths)));
  return stepMs.length < 3 && concurrency ** 2 * longestTicks <= FEW_OF_TWO;
}

/** Tokens per second by a sample of so many tokens, with the same requests for all thresholds. */
function sampler(spec: CompleteSpec, tokens: number): Evaluate {
  const inTicks = stepTicks(spec).map((lengths) =>
    [...lengths.slice(1)].map((ticks) => ticks * spec.quantumMs),
  );
  return (thresholds) => {
    const policies = thresholds.map((threshold) => thresholdPolicy({ threshold, maxWaitMs: Infinity }));
    return samplePolicies({ ...spec, stepMs: inTicks }, policies, { tokens }).tokensPerSecond;
  };
}
