import { buildChain, MAX_STATES, TooManyStatesError } from './build-chain.ts';
import { completeSpec, stepTicks, type ChainSpec, type CompleteSpec } from './chain-spec.ts';
import { coarseQuantumMs } from './coarse-quantum.ts';
import { measures } from './measures.ts';
import { allThresholds, startingThresholds } from './starting-thresholds.ts';
import { thresholdStarter } from './starter.ts';
import { refuseTooLarge } from './refuse-too-large.ts';
import { stationary, TOLERANCE } from './stationary.ts';
import { ThresholdSearch, type Evaluate } from './threshold-search.ts';
import { throughputOf, type Throughput } from './throughput.ts';

/** The best thresholds with what they give. */
export interface BestThresholds extends Throughput {
  thresholds: number[];
}

/** Thresholds whose throughput is within this of the best, relatively, tie; the smallest of them are taken. */
const TIE = 1e-4;
/** How precise the search is in large systems. */
interface Precision {
  /** Ways of routing no likelier than this are left out. */
  negligible: number;
  /** See `stationary`. */
  tolerance: number;
}

const EXACT: Precision = { negligible: 0, tolerance: TOLERANCE };
const FINE: Precision = { negligible: 1e-7, tolerance: 1e-8 };
const COARSE: Precision = { negligible: 1e-5, tolerance: 1e-6 };
/** Where nearly everybody leaves, the rare ones that stay decide between phases that are hardly ever left. */
const RARE = 0.1;
/** How far below the best of a first look thresholds may be and still be looked at closely. */
const coarseMargin = (numModels: number): number => (numModels > 2 ? 0.015 : 0.005);
/** With two models, no more requests and no longer steps than these, chains are small enough to be searched directly. */
const SMALL_CONCURRENCY = 16;
const SMALL_TICKS = 500;
const NUM_CLIMBS = 4;
/** As few feasible thresholds as this are all tried. */
const TRY_ALL = 36;

/**
 * The thresholds with the highest predicted throughput; among ties within 1e-4 those with the smallest sum. A pattern
 * search from several starts (see {@link startingThresholds}); large systems are searched first on a coarse grid of time.
 *
 * @throws TokenrailError `config_invalid` for a wrong specification; TooManyStatesError where the chain near the best has more
 *   than `maxStates`
 */
export function bestThresholds(spec: ChainSpec, limits: { maxStates?: number } = {}): BestThresholds {
  const { maxStates = MAX_STATES } = limits;
  const complete = completeSpec(spec);
  const numModels = complete.stepMs.length;
  const { concurrency } = complete;
  const coarseMs = coarseQuantumMs(complete);
  const fine = new ThresholdSearch(evaluator(complete, FINE, maxStates), numModels, concurrency);
  const all = allThresholds(numModels, concurrency, TRY_ALL);
  if (all) {
    for (const thresholds of all) fine.valueOf(thresholds);
  } else if (isSmall(complete) || coarseMs <= complete.quantumMs) {
    climbAll(fine, complete);
  } else {
    refuseTooLarge(complete, (search) => climbAll(search, complete), maxStates);
    const spec = { ...complete, quantumMs: coarseMs };
    const coarse = new ThresholdSearch(evaluator(spec, COARSE, maxStates), numModels, concurrency);
    climbAll(coarse, complete);
    const [best] = coarse.ranking();
    const least = (best?.value ?? 0) * (1 - coarseMargin(numModels));
    if (!best || fine.valueOf(best.thresholds) === -Infinity) throw new TooManyStatesError(maxStates);
    const firstStep = Math.max(1, Math.floor(concurrency / 32));
    fine.climb(best.thresholds, firstStep, (thresholds) => coarse.valueOf(thresholds) > least);
  }
  const thresholds = smallestTie(fine);
  return { thresholds, ...throughputOf(complete, thresholds, { maxStates }) };
}

/** Climbs from the best few of the starts. */
function climbAll(search: ThresholdSearch, spec: CompleteSpec): void {
  const firstStep = Math.max(1, Math.floor(spec.concurrency / 8));
  const ranked = startingThresholds(spec).sort((a, b) => search.valueOf(b) - search.valueOf(a));
  for (const start of ranked.slice(0, NUM_CLIMBS)) search.climb(start, firstStep);
}

function isSmall(spec: CompleteSpec): boolean {
  const longestTicks = Math.max(...stepTicks(spec).map((lengths) => Math.max(...lengths)));
  return spec.stepMs.length < 3 && spec.concurrency <= SMALL_CONCURRENCY && longestTicks <= SMALL_TICKS;
}

/** Small systems, and those with phases, are always solved exactly. */
function needsExact(spec: CompleteSpec): boolean {
  const { routing } = spec;
  const hasPhases = routing.some((row, i) => row.some((p, j) => i !== j && p > 1 - RARE && p < 1));
  return hasPhases || isSmall(spec);
}

/** Throughput, far more precise than a tie; −Infinity where the chain is too large. */
function evaluator(spec: CompleteSpec, wanted: Precision, maxStates: number): Evaluate {
  const { negligible, tolerance } = needsExact(spec) ? EXACT : wanted;
  return (thresholds) => {
    try {
      const chain = buildChain(spec, thresholdStarter(spec, thresholds), maxStates, negligible);
      return measures(spec, chain, stationary(chain, tolerance)).tokensPerSecond;
    } catch (error) {
      if (error instanceof TooManyStatesError) return -Infinity;
      throw error;
    }
  };
}

function smallestTie(search: ThresholdSearch): number[] {
  const ranking = search.ranking();
  const best = ranking[0]?.value ?? 0;
  const sum = (thresholds: readonly number[]): number => thresholds.reduce((a, b) => a + b, 0);
  const ties = ranking.filter(({ value }) => value >= best * (1 - TIE));
  const smallest = ties.reduce((a, b) => (sum(b.thresholds) < sum(a.thresholds) ? b : a));
  return [...smallest.thresholds];
}
