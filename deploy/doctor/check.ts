import { toTokenrailError } from '../../core/errors.ts';
import type { TokenrailError } from '../../core/errors.ts';
import type { ResolvedConfig } from '../config/deployment.ts';

/** `warn`: it works, but not as well as it could. */
export type CheckStatus = 'ok' | 'warn' | 'FAIL';

/** One line of the doctor. */
export interface CheckResult {
  name: string;
  status: CheckStatus;
  /** What was found. */
  detail: string;
  /** How to mend it; only where it is not ok. */
  fix?: string;
}

/** What a check found. */
export type Outcome = Omit<CheckResult, 'name'>;

export interface Check {
  name: string;
  run: (resolved: ResolvedConfig) => Promise<Outcome> | Outcome;
  /** How to mend it where `run` throws, by what it throws where the advice differs. */
  fix: string | ((error: TokenrailError) => string);
}

export const ok = (detail: string): Outcome => ({ status: 'ok', detail });
export const warn = (detail: string, fix: string): Outcome => ({
  status: 'warn',
  detail,
  fix,
});

/** Runs checks one after the other; what one throws is its failure. */
export async function runChecks(
  checks: readonly Check[],
  resolved: ResolvedConfig,
  onResult: (result: CheckResult) => void,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, run, fix } of checks) {
    let outcome: Outcome;
    try {
      outcome = await run(resolved);
    } catch (thrown) {
      const error = toTokenrailError(thrown);
      const advice = typeof fix === 'string' ? fix : fix(error);
      outcome = { status: 'FAIL', detail: error.message, fix: advice };
    }
    const result = { name, ...outcome };
    results.push(result);
    onResult(result);
  }
  return results;
}
