import type { PolicySpec } from '../create-policy.ts';

/** A candidate before it has been evaluated. */
export interface Proposal {
  name: string;
  policies: readonly PolicySpec[];
}

/** Kinds that go by rows. */
export type ThresholdKind = 'threshold' | 'threshold-hold' | 'take-turns';

export function proposal(kind: ThresholdKind, thresholds: readonly number[]): Proposal {
  return {
    name: `${kind}(${thresholds.join()})`,
    policies: thresholds.map((threshold) => ({ kind, threshold })),
  };
}

/** The same with a ceiling on waiting, in milliseconds; who starts at once needs none. */
export const withCeiling = (
  policies: readonly PolicySpec[],
  maxWaitMs: number | undefined,
): readonly PolicySpec[] =>
  policies.map((policy) =>
    maxWaitMs === undefined || policy.kind === 'eager' ? policy : { ...policy, maxWaitMs },
  );
