import type { PolicySpec } from '../../../../scheduling/index.ts';
import type { Candidate } from '../../../../scheduling/planner/index.ts';
import type { Rung } from '../../../../scheduling/tuner/ladder.ts';

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

/** One that is measured though nobody predicts it. */
export const rung = (name: string, place: number, tokensPerSecond: number): Rung => ({
  place,
  isForDoubt: false,
  candidate: candidate(name, tokensPerSecond, 'threshold'),
});
