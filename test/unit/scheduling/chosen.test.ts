import { describe, expect, it } from 'vitest';
import type { PolicySpec } from '../../../scheduling/index.ts';
import type { Candidate } from '../../../scheduling/planner/index.ts';
import { chosenFrom } from '../../../scheduling/tuner/chosen.ts';
import { candidate } from './support/candidate.ts';

const names = (candidates: readonly Candidate[]): string[] => candidates.map(({ name }) => name);

/** The second model was configured to wait for four rows, whatever a plan says. */
const besideThreshold = (name: string, tokensPerSecond: number, kind: PolicySpec['kind']): Candidate => ({
  name,
  policies: [{ kind }, { kind: 'threshold', threshold: 4 }],
  tokensPerSecond,
});

describe('what is worth measuring', () => {
  const all = [
    candidate('threshold(1,3)', 400, 'threshold'),
    candidate('threshold(1,4)', 399, 'threshold'),
    candidate('threshold-hold(1,3)', 398, 'threshold-hold'),
    candidate('take-turns(4)', 397, 'take-turns'),
    candidate('threshold(2,3)', 396, 'threshold'),
    candidate('look-ahead', 340),
    candidate('eager', 300, 'eager'),
  ];

  it('is what is close to the best, of three kinds, and eager and look-ahead', () => {
    const three = ['threshold(1,3)', 'threshold-hold(1,3)', 'take-turns(4)'];
    expect(names(chosenFrom(all, Infinity))).toEqual([...three, 'eager', 'look-ahead']);
  });

  it('is what ran until now too, wherever it is predicted to be', () => {
    expect(names(chosenFrom(all, Infinity, 'threshold(2,3)'))).toContain('threshold(2,3)');
    expect(names(chosenFrom(all, Infinity, 'threshold(9,9)'))).toHaveLength(5);
    const slow = all.map((one) => (one.name === 'threshold(2,3)' ? { ...one, p99AdmissionMs: 90 } : one));
    expect(names(chosenFrom(slow, 10, 'threshold(2,3)'))).not.toContain('threshold(2,3)');
  });

  it('counts as eager what is so wherever there is a choice', () => {
    const beside = [
      besideThreshold('threshold(1,4)', 400, 'threshold'),
      besideThreshold('look-ahead', 350, 'look-ahead'),
      besideThreshold('eager', 300, 'eager'),
    ];
    expect(names(chosenFrom(beside, Infinity))).toEqual(['threshold(1,4)', 'eager', 'look-ahead']);
  });
});
