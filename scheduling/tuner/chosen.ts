import type { PolicySpec } from '../create-policy.ts';
import type { Candidate } from '../planner/plan.ts';
import { kindsOf } from './arm.ts';

/** Candidates that are tried are predicted within this of the best … */
const CLOSE = 0.05;
/** … and not more than so many, of different kinds where there are; these are tried besides, whatever is predicted. */
const MAX_CLOSE = 3;
const ALWAYS_TRIED: readonly PolicySpec['kind'][] = ['eager', 'look-ahead'];

/**
 * Those of a plan's candidates that are worth measuring, best first.
 *
 * @param candidates best first
 * @param admissionP99Ms bound on the predicted delay: what exceeds it is left out, however fast, unless all do
 * @param ran name of what ran until now: it stays among them, since all else was measured beside it
 */
export function chosenFrom(
  candidates: readonly Candidate[],
  admissionP99Ms: number,
  ran?: string,
): Candidate[] {
  const most = candidates[0]?.tokensPerSecond ?? 0;
  const largestMs = Math.max(admissionP99Ms, candidates[0]?.p99AdmissionMs ?? 0);
  const allowed = candidates.filter(({ p99AdmissionMs = 0 }) => p99AdmissionMs <= largestMs);
  const close = allowed.filter(({ tokensPerSecond }) => tokensPerSecond >= most * (1 - CLOSE));
  const chosen = firstOfEachKind(close).slice(0, MAX_CLOSE);
  const former = allowed.find(({ name }) => name === ran);
  if (former && !chosen.includes(former)) chosen.push(former);
  const isFree = isFreeIn(candidates);
  for (const kind of ALWAYS_TRIED) {
    const one = allowed.find(({ policies }) =>
      policies.every((policy, model) => policy.kind === kind || !isFree(model)),
    );
    if (one && !chosen.some(({ policies }) => kindsOf(policies) === kindsOf(one.policies))) chosen.push(one);
  }
  return chosen;
}

/** Whether a model has a choice at all: the policies of those that were configured are the same in every candidate. */
function isFreeIn(candidates: readonly Candidate[]): (model: number) => boolean {
  const specOf = ({ policies }: Candidate, model: number): string => JSON.stringify(policies[model]);
  return (model) => new Set(candidates.map((one) => specOf(one, model))).size > 1;
}

/** The first of each kind, then the others, in their order: measuring two of a kind tells less than measuring two kinds. */
function firstOfEachKind(candidates: readonly Candidate[]): Candidate[] {
  const isFirst = ({ policies }: Candidate, index: number): boolean =>
    candidates.findIndex((other) => kindsOf(other.policies) === kindsOf(policies)) === index;
  return [
    ...candidates.filter((one, index) => isFirst(one, index)),
    ...candidates.filter((one, index) => !isFirst(one, index)),
  ];
}
