import type { PolicySpec } from '../../scheduling/index.ts';
import { splitList } from '../config/text-forms.ts';
import { flagError, numberFlag } from '../system-options.ts';

type Kind = PolicySpec['kind'];

/** Kinds, and whether they take thresholds. */
const KINDS: Readonly<Record<Kind, boolean>> = {
  auto: false,
  eager: false,
  threshold: true,
  'look-ahead': false,
  'threshold-hold': true,
  'take-turns': true,
};

export interface PolicyText {
  policy?: string | undefined;
  thresholds?: string | undefined;
  maxWaitMs?: string | undefined;
}

export interface ParsedPolicies {
  /** One per model. */
  policies: PolicySpec[];
  policy: Kind;
  thresholds: number[] | null;
}

/** `--policy`, `--thresholds`, `--max-wait-ms`. @throws TokenrailError `config_invalid` naming the flag */
export function parsePolicies(text: PolicyText, numModels: number): ParsedPolicies {
  const policy = (text.policy ?? 'auto') as Kind;
  if (!Object.hasOwn(KINDS, policy))
    throw flagError('--policy', `expected one of ${Object.keys(KINDS).join(', ')}, got "${policy}"`);
  const maxWaitMs =
    text.maxWaitMs === undefined
      ? {}
      : { maxWaitMs: numberFlag('--max-wait-ms', text.maxWaitMs, { min: 0 }) };
  if (!KINDS[policy]) {
    if (text.thresholds !== undefined) throw flagError('--thresholds', `is not taken by --policy ${policy}`);
    return {
      policies: Array.from({ length: numModels }, () => ({ kind: policy, ...maxWaitMs })),
      policy,
      thresholds: null,
    };
  }
  if (text.thresholds === undefined)
    throw flagError('--thresholds', `is required by --policy ${policy}, like 1,5`);
  const thresholds = splitList(text.thresholds).map((part) =>
    numberFlag('--thresholds', part, { min: 1, isInteger: true }),
  );
  if (thresholds.length !== numModels)
    throw flagError('--thresholds', `expected ${numModels} integers, got "${text.thresholds}"`);
  return {
    policies: thresholds.map((threshold) => ({ kind: policy, threshold, ...maxWaitMs })),
    policy,
    thresholds,
  };
}
