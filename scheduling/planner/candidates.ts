import type { PolicySpec } from '../create-policy.ts';
import { stepMsOf } from '../throughput/chain-spec.ts';
import type { Evaluator } from './evaluator.ts';
import type { SystemSpec } from './plan.ts';
import { searchThresholds } from './search-thresholds.ts';

/** A candidate before it has been evaluated. */
export interface Proposal {
  name: string;
  policies: readonly PolicySpec[];
}

/** What was best for another number of requests: where the next search begins. */
export interface Hints {
  thresholds?: readonly number[];
  turns?: readonly number[];
}

/** Below this overlap factor models may do better one after the other than side by side. */
const TURNS_BELOW = 0.95;
/** κ of the guests besides the default: holding more rarely pays where few requests come, more gladly where many do. */
const GUEST_KAPPAS = [0.6, 0.7, 0.8, 1];

type ThresholdKind = 'threshold' | 'threshold-hold' | 'take-turns';

function proposal(kind: ThresholdKind, thresholds: readonly number[]): Proposal {
  return {
    name: `${kind}(${thresholds.join()})`,
    policies: thresholds.map((threshold) => ({ kind, threshold })),
  };
}

function lookAhead(system: SystemSpec, kappa?: number): Proposal {
  const policies = system.stepMs.map((_, model): PolicySpec => {
    const isDefault = kappa === undefined || model === system.home - 1;
    return isDefault ? { kind: 'look-ahead' } : { kind: 'look-ahead', kappa };
  });
  return { name: kappa === undefined ? 'look-ahead' : `look-ahead(${kappa})`, policies };
}

/**
 * B_j = ⌈p N (L_j − L_h) / (L_h + p (L_j − L_h))⌉ for each guest j, 1 for the home h: a closed form that is within one
 * of the best for two models.
 */
export function guessThresholds(system: SystemSpec, alive: number): number[] {
  const home = system.home - 1;
  const stepMs = (model: number): number => stepMsOf(system.stepMs[model] ?? [1], alive);
  return system.stepMs.map((_, model) => {
    const p = system.routing[home]?.[model] ?? 0;
    const more = stepMs(model) - stepMs(home);
    if (model === home || more <= 0) return 1;
    return Math.max(1, Math.min(alive, Math.ceil((p * alive * more) / (stepMs(home) + p * more))));
  });
}

/** All candidates for one number of requests alive, simplest first. Updates `hints`. */
export function propose(
  system: SystemSpec,
  evaluator: Evaluator,
  hints: Hints,
  boundsDelay: boolean,
): Proposal[] {
  const numModels = system.stepMs.length;
  const eager: Proposal = {
    name: 'eager',
    policies: Array.from({ length: numModels }, () => ({ kind: 'eager' })),
  };
  if (numModels === 1 || evaluator.alive === 1) return [eager];
  const thresholds = bestThresholds(system, evaluator, hints);
  hints.thresholds = thresholds;
  const rowsToTry = withFewerRows(thresholds, boundsDelay).filter((rows) => rows.some((count) => count > 1));
  const found = [eager, ...rowsToTry.map((rows) => proposal('threshold', rows))];
  found.push(...holds(system, evaluator, thresholds), lookAhead(system));
  for (const kappa of GUEST_KAPPAS) found.push(lookAhead(system, kappa));
  if (system.overlapFactor < TURNS_BELOW) {
    hints.turns = bestTurns(system, evaluator, hints);
    found.push(proposal('take-turns', hints.turns));
  }
  return found.filter(({ name }, i) => found.findIndex((other) => other.name === name) === i);
}

function bestThresholds(system: SystemSpec, evaluator: Evaluator, hints: Hints): readonly number[] {
  const { alive } = evaluator;
  const guess = guessThresholds(system, alive);
  const starts: (readonly number[])[] = [guess, ...(hints.thresholds ? [hints.thresholds] : [])];
  if (system.overlapFactor < TURNS_BELOW) starts.push(nonOverlapping(system, alive));
  const largest = system.stepMs.map(() => alive);
  return search('threshold', evaluator, starts, largest);
}

/** A better value by less than this is the same: of an exact value, and of one that a short sample gives. */
const EXACT_GAIN = 1e-5;
const ROUGH_GAIN = 1e-3;

/** Searches by exact values; by rough ones throughout as soon as one chain turns out too large: they do not mix. */
function search(
  kind: ThresholdKind,
  evaluator: Evaluator,
  starts: readonly (readonly number[])[],
  largest: readonly number[],
): readonly number[] {
  const isCandidate = (rows: readonly number[]): boolean =>
    kind !== 'threshold' || isFeasible(rows, evaluator.alive);
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

/** Σ (B − 1) < N: somebody can always start. Replicas only make it stricter than needed. */
function isFeasible(thresholds: readonly number[], alive: number): boolean {
  return thresholds.reduce((sum, rows) => sum + rows - 1, 0) < alive;
}

/** Thresholds that add up to N + 1 never let two models run at once; a third of the requests at the home. */
function nonOverlapping(system: SystemSpec, alive: number): number[] {
  const atHome = Math.max(1, Math.round(alive / 3));
  const numGuests = system.stepMs.length - 1;
  const perGuest = Math.max(1, Math.floor((alive - atHome) / numGuests) + 1);
  return system.stepMs.map((_, model) => (model === system.home - 1 ? atHome : perGuest));
}

/** A bound on delays asks for candidates between eager and the best thresholds. */
function withFewerRows(thresholds: readonly number[], boundsDelay: boolean): (readonly number[])[] {
  if (!boundsDelay) return [thresholds];
  return [0.25, 0.5, 0.75, 1].map((share) => thresholds.map((rows) => 1 + Math.round(share * (rows - 1))));
}

/** The home looks ahead; guests wait for about the best thresholds: with a hold one less or more may be better. */
function holds(system: SystemSpec, evaluator: Evaluator, thresholds: readonly number[]): Proposal[] {
  const home = system.home - 1;
  const guests = thresholds.map((rows, model) => (model === home ? 1 : rows));
  const largest = system.stepMs.map((_, model) => (model === home ? 1 : evaluator.alive));
  const found = search('threshold-hold', evaluator, [guests], largest);
  return [proposal('threshold-hold', guests), proposal('threshold-hold', found)];
}

/** Rows that the home waits for before it takes its turn; a guest takes its turn with what there is. */
function bestTurns(system: SystemSpec, evaluator: Evaluator, hints: Hints): readonly number[] {
  const home = system.home - 1;
  const guess = system.stepMs.map((_, model) => (model === home ? Math.ceil(evaluator.alive / 3) : 1));
  const starts = [guess, ...(hints.turns ? [hints.turns] : [])];
  const largest = system.stepMs.map(() => evaluator.alive);
  return search('take-turns', evaluator, starts, largest);
}
