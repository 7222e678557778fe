import { TokenrailError } from '../core/errors.ts';
import { AutoPolicy } from './auto.ts';
import { eagerPolicy } from './eager.ts';
import { lookAheadPolicy } from './look-ahead.ts';
import type { StartPolicy } from './policy.ts';
import { takeTurnsPolicy } from './take-turns.ts';
import { thresholdPolicy } from './threshold.ts';
import { thresholdHoldPolicy } from './threshold-hold.ts';

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

export type PolicyKind = 'eager' | 'threshold' | 'look-ahead' | 'threshold-hold' | 'take-turns' | 'auto';

export const DEFAULT_MAX_WAIT_MS = 250;

/** What a kind takes besides `maxWaitMs`, which all take (`eager` never waits, so any ceiling holds for it). */
const KEYS: Record<PolicyKind, readonly string[]> = {
  eager: [],
  threshold: ['threshold'],
  'look-ahead': ['kappa'],
  'threshold-hold': ['threshold', 'kappa'],
  'take-turns': ['threshold'],
  auto: ['admissionP99Ms'],
};

/**
 * The policy of a specification. `auto` without anybody who plans for it looks ahead.
 * @throws TokenrailError `config_invalid` naming the key: an unknown kind, a key that the kind does not take, a threshold
 *   that is no integer ≥ 1, a negative κ or wait
 */
export function createPolicy(spec: PolicySpec): StartPolicy {
  checkPolicySpec(spec);
  const { kind, threshold = 1, kappa, maxWaitMs = DEFAULT_MAX_WAIT_MS } = spec;
  switch (kind) {
    case 'eager':
      return eagerPolicy();
    case 'threshold':
      return thresholdPolicy({ threshold, maxWaitMs });
    case 'threshold-hold':
      return thresholdHoldPolicy({ threshold, kappa, maxWaitMs });
    case 'take-turns':
      return takeTurnsPolicy({ threshold, maxWaitMs });
    case 'look-ahead':
      return lookAheadPolicy({ kappa, maxWaitMs });
    case 'auto':
      return new AutoPolicy({ maxWaitMs, admissionP99Ms: spec.admissionP99Ms });
  }
}

/** @throws TokenrailError as {@link createPolicy} */
export function checkPolicySpec(spec: PolicySpec): void {
  const allowed = Object.hasOwn(KEYS, spec.kind) ? KEYS[spec.kind] : undefined;
  if (!allowed) throw invalid('kind', `is none of ${Object.keys(KEYS).join(', ')}`, spec.kind);
  for (const [key, value] of Object.entries(spec)) {
    const isKnown = key === 'kind' || key === 'maxWaitMs' || allowed.includes(key);
    if (value !== undefined && !isKnown) throw invalid(key, `is not taken by "${spec.kind}"`, value);
  }
  const { threshold, kappa, maxWaitMs, admissionP99Ms } = spec;
  const thresholds = typeof threshold === 'object' ? threshold : [threshold ?? 1];
  if (thresholds.length === 0) throw invalid('threshold', 'must not be an empty list', threshold);
  for (const rows of thresholds)
    if (!Number.isInteger(rows) || rows < 1) throw invalid('threshold', 'must be an integer ≥ 1', rows);
  if (kappa !== undefined && !(kappa >= 0 && kappa < Infinity)) throw invalid('kappa', 'must be ≥ 0', kappa);
  if (maxWaitMs !== undefined && !(maxWaitMs >= 0)) throw invalid('maxWaitMs', 'must be ≥ 0 ms', maxWaitMs);
  if (admissionP99Ms !== undefined && !(admissionP99Ms > 0))
    throw invalid('admissionP99Ms', 'must be > 0 ms', admissionP99Ms);
}

const invalid = (key: string, what: string, value: unknown): TokenrailError =>
  new TokenrailError('config_invalid', `policy ${key} ${what}, not ${String(value)}`, {
    param: `policy.${key}`,
  });
