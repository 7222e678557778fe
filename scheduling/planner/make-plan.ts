import type { PolicySpec } from '../create-policy.ts';
import { modelError } from '../throughput/chain-spec.ts';
import { propose } from './candidates.ts';
import { Configured } from './configured.ts';
import { Evaluator, type PlanEffort } from './evaluator.ts';
import type { Hints } from './find-thresholds.ts';
import type { Candidate, Plan, PlanEntry, PlanProblem } from './plan.ts';
import type { Proposal } from './proposal.ts';

export const DEFAULT_EFFORT: PlanEffort = { maxStates: 12_000, tokens: 24_000, searchTokens: 4_000 };

/**
 * Part of that effort where nothing is exact since the step times scatter: what is estimated there moves soon, and a plan in
 * time is worth more than the last tenth of a percent. Percentiles need all of it.
 */
const SAMPLED_EFFORT = 0.4;

/** Numbers of requests up to this one have an entry each; beyond, entries lie a quarter apart. */
const EACH_UP_TO = 16;
const SPARSE_STEP = 1.25;
/** Where everything is sampled, entries are this far apart from the start. */
const SAMPLED_EACH_UP_TO = 4;

/** Values that differ by less than this are a tie: the simpler candidate goes first. */
const TIE = 1e-5;
/**
 * Share that holding for others' steps costs, beyond what is predicted: when these end is told by messages that are a hop late, and
 * steps that scatter end at another time. Where it promises no more than this, starting at once is better.
 */
const FORECAST_COST = 0.015;
const RELY_ON_FORECASTS: readonly PolicySpec['kind'][] = ['look-ahead', 'threshold-hold', 'take-turns'];

/**
 * For each number of requests alive in a grid: all candidates, evaluated and sorted. Pure and deterministic.
 *
 * With `admissionP99Ms`, candidates within the bound come first, best throughput first; those beyond it follow, the
 * smallest percentile first. So where no candidate keeps the bound, the one that exceeds it least is taken.
 *
 * @throws TokenrailError `config_invalid` for a wrong system
 */
export function makePlan(problem: PlanProblem, effort: PlanEffort = DEFAULT_EFFORT): Plan {
  const { system, aliveMax } = problem;
  if (!Number.isInteger(aliveMax) || aliveMax < 1) throw modelError('aliveMax must be an integer ≥ 1');
  const isExact = new Evaluator(system, 1, new Configured(problem), effort).isExactPossible;
  const share = isExact || problem.admissionP99Ms !== undefined ? 1 : SAMPLED_EFFORT;
  const { maxStates, tokens, searchTokens } = effort;
  const spent = { maxStates, tokens: share * tokens, searchTokens: share * searchTokens };
  const hints: Hints = {};
  const entries: PlanEntry[] = [];
  for (const alive of aliveGrid(aliveMax, isExact ? EACH_UP_TO : SAMPLED_EACH_UP_TO))
    entries.push(planEntry(problem, alive, spent, hints));
  return { entries };
}

/**
 * The entry for one number of requests alive.
 * @param hints where searches begin; what is found goes into them
 * @throws TokenrailError `config_invalid` for a wrong system
 */
export function planEntry(
  problem: PlanProblem,
  alive: number,
  effort: PlanEffort = DEFAULT_EFFORT,
  hints: Hints = {},
): PlanEntry {
  const evaluator = new Evaluator(problem.system, alive, new Configured(problem), effort);
  const proposals = propose(problem.system, evaluator, hints, problem.admissionP99Ms !== undefined);
  return { alive, candidates: sorted(evaluate(evaluator, proposals, problem), problem.admissionP99Ms) };
}

/** 1, 2, 3 … `eachUpTo`, then ever sparser, and `aliveMax`. */
export function aliveGrid(aliveMax: number, eachUpTo: number): number[] {
  const grid: number[] = [];
  for (let alive = 1; alive < aliveMax;) {
    grid.push(alive);
    alive = alive < eachUpTo ? alive + 1 : Math.ceil(alive * SPARSE_STEP);
  }
  return [...grid, aliveMax];
}

/**
 * Exact where the chain allows. Where it does not for some, these are scaled: sample ÷ sample of one that is known
 * exactly, times its exact value. Common random numbers cancel most of the noise in such a ratio.
 */
function evaluate(evaluator: Evaluator, proposals: readonly Proposal[], problem: PlanProblem): Candidate[] {
  const exact = proposals.map(({ policies }) => evaluator.exact(policies));
  const needsSamples = problem.admissionP99Ms !== undefined;
  const samples = proposals.map(({ policies }, i) =>
    needsSamples || exact[i] === undefined ? evaluator.sampled(policies) : undefined,
  );
  const scale = samples.includes(undefined) || needsSamples ? scaleOf(evaluator, proposals, exact) : 1;
  return proposals.map(({ name, policies }, i) => {
    const sample = samples[i];
    const tokensPerSecond =
      (exact[i] ?? scale * (sample?.tokensPerSecond ?? 0)) * keptOf(evaluator, policies);
    const candidate = {
      name,
      policies: evaluator.configured.settled(policies),
      tokensPerSecond,
      ...(exact[i] === undefined ? { isSampled: true as const } : {}),
    };
    return needsSamples && sample ? { ...candidate, p99AdmissionMs: sample.p99AdmissionMs } : candidate;
  });
}

/** What is left of a prediction where it rests on forecasts that are no better than the step times are steady. */
function keptOf({ isExactPossible }: Evaluator, policies: readonly PolicySpec[]): number {
  const relies = policies.some(({ kind }) => RELY_ON_FORECASTS.includes(kind));
  return relies && !isExactPossible ? 1 - FORECAST_COST : 1;
}

/** Exact ÷ sampled value of one candidate that is known both ways; 1 where none is, or all are exact. */
function scaleOf(
  evaluator: Evaluator,
  proposals: readonly Proposal[],
  exact: readonly (number | undefined)[],
): number {
  if (!exact.includes(undefined)) return 1;
  const at = exact.findLastIndex((value) => value !== undefined);
  const reference = proposals[at];
  if (!reference) return 1;
  const sampled = evaluator.sampled(reference.policies).tokensPerSecond;
  return sampled > 0 ? (exact[at] ?? 0) / sampled : 1;
}

function sorted(candidates: readonly Candidate[], boundMs: number | undefined): Candidate[] {
  const rank = ({ tokensPerSecond }: Candidate): number => -Math.round(Math.log(tokensPerSecond) / TIE);
  const excess = ({ p99AdmissionMs = 0 }: Candidate): number =>
    boundMs === undefined || p99AdmissionMs <= boundMs ? 0 : p99AdmissionMs;
  return [...candidates].sort((a, b) => excess(a) - excess(b) || rank(a) - rank(b) || 0);
}
