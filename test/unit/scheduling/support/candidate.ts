import type { PolicySpec } from '../../../../scheduling/index.ts';
import type { Candidate } from '../../../../scheduling/planner/index.ts';

/** A candidate for two models with one policy for both. */
export const candidate = (
  name: string,
  tokensPerSecond: number,
  kind: PolicySpec['kind'] = 'look-ahead',
): Candidate => ({
  name,
  policies: [{ kind }, { kind }],
  tokensPerSecond,
});
