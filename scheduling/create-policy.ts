import { TokenrailError } from '../core/errors.ts';
import { eagerPolicy } from './eager.ts';
import type { StartPolicy } from './policy.ts';
import { thresholdPolicy } from './threshold.ts';

/** A policy as the configuration names it. */
export interface PolicySpec {
  kind: 'eager' | 'threshold';
  /** Rows to wait for; only with `threshold`. Default 1. */
  threshold?: number | undefined;
  /** Longest wait of a row, in milliseconds; only with `threshold`. Default 250. */
  maxWaitMs?: number | undefined;
}

/** @throws TokenrailError `config_invalid` for a threshold below 1 or a negative wait */
export function createPolicy(spec: PolicySpec): StartPolicy {
  const { kind, threshold = 1, maxWaitMs = 250 } = spec;
  if (!Number.isInteger(threshold) || threshold < 1) {
    throw new TokenrailError('config_invalid', `policy threshold must be an integer ≥ 1, not ${threshold}`);
  }
  if (!(maxWaitMs >= 0)) {
    throw new TokenrailError('config_invalid', `policy max wait must be ≥ 0 ms, not ${maxWaitMs}`);
  }
  return kind === 'eager' ? eagerPolicy() : thresholdPolicy({ threshold, maxWaitMs });
}
