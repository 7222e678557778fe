import { stepMsOf } from '../throughput/chain-spec.ts';
import type { Evaluator } from './evaluator.ts';
import type { SystemSpec } from './plan.ts';
import { proposal, type ThresholdKind } from './proposal.ts';
import { searchThresholds } from './search-thresholds.ts';

/** What was best for another number of requests: where the next search begins. */
export interface Hints {
  thresholds?: readonly number[];
  turns?: readonly number[];
}

/** Below this overlap factor models may do better one after the other than side by side. */
export const TURNS_BELOW = 0.95;

/**
 * B_j = ⌈p N (L_j − L_h) / (L_h + p (L_j − L_h))⌉ for each guest j, 1 for the home h: a closed form that is within one
 * of the best for two models.
 */
function guessThresholds(system: SystemSpec, alive: number): number[] {
  const home = system.home - 1;
  const stepMs = (model: number): number => stepMsOf(system.stepMs[model] ?? [1], alive);
  return system.stepMs.map((_, model) => {
    const p = system.routing[home]?.[model] ?? 0;
    const more = stepMs(model) - stepMs(home);
    if (model === home || more <= 0) return 1;
    const here = alive / replicasOf(system, model); // thresholds are per replica
    return Math.max(1, Math.min(alive, Math.ceil((p * here * more) / (stepMs(home) + p * more))));
  });
}

const replicasOf = (system: SystemSpec, model: number): number => system.replicas?.[model] ?? 1;

/** Good thresholds at a fraction of the time of the throughput model's own search, and by samples where a chain is too large. */
export function bestThresholds(system: SystemSpec, evaluator: Evaluator, hints: Hints): readonly number[] {
  const { alive } = evaluator;
  const guess = guessThresholds(system, alive);
  const starts: (readonly number[])[] = [guess, ...(hints.thresholds ? [hints.thresholds] : [])];
  if (system.overlapFactor < TURNS_BELOW) starts.push(nonOverlapping(system, alive));
  return search(system, 'threshold', evaluator, starts, largestAt(system, evaluator));
}

/** A better value by less than this is the same: of an exact value, and of one that a short sample gives. */
const EXACT_GAIN = 1e-5;
const ROUGH_GAIN = 1e-3;

/** Searches by exact values; by rough ones throughout as soon as one chain turns out too large: they do not mix. */
export function search(
  system: SystemSpec,
  kind: ThresholdKind,
  evaluator: Evaluator,
  starts: readonly (readonly number[])[],
  largest: readonly number[],
): readonly number[] {
  const isCandidate = (rows: readonly number[]): boolean =>
    kind !== 'threshold' || isFeasible(system, rows, evaluator.alive);
  let isTooLarge = false;
  const exact = (rows: readonly number[]): number => {
    if (isTooLarge || !isCandidate(rows)) return 0;
    const value = evaluator.exact(proposal(kind, rows).policies);
    if (value === undefined) isTooLarge = true;
    return value ?? 0;
  };
  const found = searchThresholds({ evaluate: exact, starts, largest, gain: EXACT_GAIN });
  if (!isTooLarge) return found.thresholds;
  const rough = (rows: readonly number[]): number =>
    isCandidate(rows) ? evaluator.rough(proposal(kind, rows).policies) : 0;
  return searchThresholds({ evaluate: rough, starts, largest, gain: ROUGH_GAIN }).thresholds;
}

/** Models that keep a policy of their own are no part of a search. */
export const largestAt = (system: SystemSpec, { configured, alive }: Evaluator): number[] =>
  system.stepMs.map((_, model) => (configured.isFree(model) ? alive : 1));

/** Σ (B − 1) < N over all replicas: somebody can always start. */
function isFeasible(system: SystemSpec, thresholds: readonly number[], alive: number): boolean {
  const held = thresholds.reduce((sum, rows, model) => sum + (rows - 1) * replicasOf(system, model), 0);
  return held < alive;
}

/** Thresholds that add up to N + 1 never let two models run at once; a third of the requests at the home. */
function nonOverlapping(system: SystemSpec, alive: number): number[] {
  const atHome = Math.max(1, Math.round(alive / 3));
  const numGuests = system.stepMs.length - 1;
  const perGuest = Math.max(1, Math.floor((alive - atHome) / numGuests) + 1);
  return system.stepMs.map((_, model) => (model === system.home - 1 ? atHome : perGuest));
}

/** Rows that the home waits for before it takes its turn; a guest takes its turn with what there is. */
export function bestTurns(system: SystemSpec, evaluator: Evaluator, hints: Hints): readonly number[] {
  const home = system.home - 1;
  const guess = system.stepMs.map((_, model) => (model === home ? Math.ceil(evaluator.alive / 3) : 1));
  const starts = [guess, ...(hints.turns ? [hints.turns] : [])];
  return search(system, 'take-turns', evaluator, starts, largestAt(system, evaluator));
}
