import type { PolicySpec } from '../create-policy.ts';

/** A candidate before it has been evaluated. */
export interface Proposal {
  name: string;
  policies: readonly PolicySpec[];
}

/** Kinds that go by rows. */
export type ThresholdKind = 'threshold' | 'threshold-hold' | 'take-turns';

/** @param isFree whether the policy of a model, counted from 0, is chosen at all: the name has a dash where it is not */
export function proposal(
  kind: ThresholdKind,
  thresholds: readonly number[],
  isFree: (model: number) => boolean = () => true,
): Proposal {
  return {
    name: `${kind}(${thresholds.map((rows, model) => (isFree(model) ? rows : '-')).join()})`,
    policies: thresholds.map((threshold) => ({ kind, threshold })),
  };
}

/** The same with a ceiling on waiting, in milliseconds; who starts at once needs none. */
export const waitingAtMost = (policy: PolicySpec, maxWaitMs: number | undefined): PolicySpec =>
  maxWaitMs === undefined || policy.kind === 'eager' ? policy : { ...policy, maxWaitMs };

export const withCeiling = (
  policies: readonly PolicySpec[],
  maxWaitMs: number | undefined,
): readonly PolicySpec[] => policies.map((policy) => waitingAtMost(policy, maxWaitMs));
