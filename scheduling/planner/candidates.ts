import type { PolicySpec } from '../create-policy.ts';
import type { Evaluator } from './evaluator.ts';
import { bestThresholds, bestTurns, largestAt, search, TURNS_BELOW, type Hints } from './find-thresholds.ts';
import type { SystemSpec } from './plan.ts';
import { proposal, type Proposal, type ThresholdKind } from './proposal.ts';

/** κ of the guests besides the default: holding more rarely pays where few requests come, more gladly where many do. */
const GUEST_KAPPAS = [0.6, 0.7, 0.8, 1];

function lookAhead(system: SystemSpec, kappa?: number): Proposal {
  const policies = system.stepMs.map((_, model): PolicySpec => {
    const isDefault = kappa === undefined || model === system.home - 1;
    return isDefault ? { kind: 'look-ahead' } : { kind: 'look-ahead', kappa };
  });
  return { name: kappa === undefined ? 'look-ahead' : `look-ahead(${kappa})`, policies };
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
  const named = (kind: ThresholdKind, rows: readonly number[]): Proposal =>
    proposal(kind, rows, (model) => evaluator.configured.isFree(model));
  const thresholds = bestThresholds(system, evaluator, hints);
  hints.thresholds = thresholds;
  const rowsToTry = withFewerRows(thresholds, boundsDelay).filter((rows) => rows.some((count) => count > 1));
  const found = [eager, ...rowsToTry.map((rows) => named('threshold', rows))];
  for (const rows of holds(system, evaluator, thresholds)) found.push(named('threshold-hold', rows));
  found.push(lookAhead(system));
  for (const kappa of GUEST_KAPPAS) found.push(lookAhead(system, kappa));
  if (system.overlapFactor < TURNS_BELOW) {
    hints.turns = bestTurns(system, evaluator, hints);
    found.push(named('take-turns', hints.turns));
  }
  return unlike(found, evaluator);
}

/** Without those that come to the same, beside the policies that models keep. */
function unlike(found: readonly Proposal[], { configured }: Evaluator): Proposal[] {
  const keys = found.map(({ policies }) => JSON.stringify(configured.settled(policies)));
  return found.filter((_, i) => keys.indexOf(keys[i] ?? '') === i);
}

/** A bound on delays asks for candidates between eager and the best thresholds. */
function withFewerRows(thresholds: readonly number[], boundsDelay: boolean): (readonly number[])[] {
  if (!boundsDelay) return [thresholds];
  return [0.25, 0.5, 0.75, 1].map((share) => thresholds.map((rows) => 1 + Math.round(share * (rows - 1))));
}

/** The home looks ahead; guests wait for about the best thresholds: with a hold one less or more may be better. */
function holds(
  system: SystemSpec,
  evaluator: Evaluator,
  thresholds: readonly number[],
): (readonly number[])[] {
  const home = system.home - 1;
  const guests = thresholds.map((rows, model) => (model === home ? 1 : rows));
  const largest = largestAt(system, evaluator).map((rows, model) => (model === home ? 1 : rows));
  return [guests, search(system, 'threshold-hold', evaluator, [guests], largest)];
}
