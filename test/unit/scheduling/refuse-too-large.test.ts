import { describe, expect, it } from 'vitest';
import { bestThresholds, TooManyStatesError, type ChainSpec } from '../../../scheduling/throughput-model.ts';
import { completeSpec } from '../../../scheduling/throughput/chain-spec.ts';
import { refuseTooLarge } from '../../../scheduling/throughput/refuse-too-large.ts';
import { startingThresholds } from '../../../scheduling/throughput/starting-thresholds.ts';
import { cascade, pair } from './support/chain-systems.ts';

function isRefused(spec: ChainSpec, maxStates: number): boolean {
  const complete = completeSpec(spec);
  try {
    refuseTooLarge(
      complete,
      (search) => startingThresholds(complete).forEach((start) => void search.climb(start, 1)),
      maxStates,
    );
    return false;
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(TooManyStatesError);
    return true;
  }
}

describe('a system whose chain is too large', () => {
  it('is refused without a search by chains, which would take minutes', () => {
    const spec = cascade([0.2, 0.1, 0.3], 64);
    expect(() => bestThresholds(spec, { maxStates: 100_000 })).toThrow(/more than 100000 states/);
  });

  it.each<[string, ChainSpec]>([
    ['where models take turns', cascade([0.2, 0.1, 0.3], 9, { quantumMs: 0.6, overlapFactor: 0.6 })],
    ['of long ticks', cascade([0.1, 0.2, 0.1], 9, { quantumMs: 1, stepMs: [5, 11, 23] })],
    ['with a largest step', cascade([0.3, 0.1, 0.2], 9, { quantumMs: 1.5, maxNumSeqs: [9, 4, 4] })],
    ['of two models', pair(0.35, 20, { stepMs: [6, 27.9], quantumMs: 0.001 })],
  ])('is never one whose best thresholds fit: %s', (_name, spec) => {
    const { numStates } = bestThresholds(spec);
    expect(isRefused(spec, numStates)).toBe(false);
    expect(isRefused(spec, numStates / 20)).toBe(true);
  });

  it('is not looked for where nothing is ever committed, or hardly anything', () => {
    for (const tokens of [0, 1e-4]) {
      const commits = [0, 1, 2].map(() => [tokens, 0, 0]);
      expect(isRefused(cascade([0.2, 0.1, 0.3], 12, { commits }), 10)).toBe(false);
    }
  });
});
