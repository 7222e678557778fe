import { TokenrailError } from '../core/errors.ts';
import { eagerPolicy } from './eager.ts';
import type { StartPolicy } from './policy.ts';
import { thresholdPolicy } from './threshold.ts';

export type PolicyKind = 'eager' | 'threshold' | 'look-ahead' | 'threshold-hold' | 'take-turns' | 'auto';

/** One model's policy as the configuration, a plan or a message names it. */
export interface PolicySpec {
  kind: PolicyKind;
  /**
   * Rows to wait for, ≥ 1; with `threshold`, `threshold-hold` and `take-turns`. A list holds one value per number of
   * requests alive: the first for one, the last for all beyond. Default 1.
   */
  threshold?: number | readonly number[] | undefined;
  /** How gladly a look-ahead holds, ≥ 0; with `look-ahead` and `threshold-hold`. Default: docs/scheduling.md. */
  kappa?: number | undefined;
  /** Longest wait of a row, in milliseconds. Default 250. */
  maxWaitMs?: number | undefined;
  /** Bound on the 99th percentile of the admission delay, in milliseconds; only with `auto`. */
  admissionP99Ms?: number | undefined;
}

/** @throws TokenrailError `config_invalid` for a threshold below 1 or a negative wait */
export function createPolicy(spec: PolicySpec): StartPolicy {
  const { kind, threshold = 1, maxWaitMs = 250 } = spec;
  if (typeof threshold !== 'number' || !Number.isInteger(threshold) || threshold < 1) {
    throw new TokenrailError(
      'config_invalid',
      `policy threshold must be an integer ≥ 1, not ${String(threshold)}`,
    );
  }
  if (!(maxWaitMs >= 0)) {
    throw new TokenrailError('config_invalid', `policy max wait must be ≥ 0 ms, not ${maxWaitMs}`);
  }
  return kind === 'eager' ? eagerPolicy() : thresholdPolicy({ threshold, maxWaitMs });
}
