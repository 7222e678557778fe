import { describe, expect, it } from 'vitest';
import { curveReference, gapOf } from '../../../bench/quality/gap.ts';
import { accuracyAt, standardErrorOf, type Outcome } from '../../../bench/quality/outcome.ts';
import { ORACLE } from '../../../bench/quality/query-level.ts';
import type { ListReport } from '../../../bench/quality/report.ts';
import { mcNemar, resamples, spreadOf } from '../../../bench/quality/resampling.ts';
import { isGoalMissed } from '../../../bench/quality/verdict.ts';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('curves and gaps', () => {
  it('interpolates between points in any order, and keeps the ends', () => {
    const points = [
      { share: 0.2, accuracy: 0.9 },
      { share: 0.1, accuracy: 0.5 },
    ];
    expect([0.05, 0.1, 0.15, 0.2, 0.9].map((share) => accuracyAt(points, share))).toEqual([
      0.5,
      0.5,
      expect.closeTo(0.7, 12),
      0.9,
      0.9,
    ]);
    expect(accuracyAt([], 0.1)).toBeNaN();
  });

  const problems = Array.from({ length: 200 }, (_, i) => i);
  const curveAt = (share: number, accuracy: number): Outcome => ({
    correct: problems.map((i) => (i < accuracy * 200 ? 1 : 0)),
    tokens: problems.map(() => 100),
    largeTokens: problems.map(() => 100 * share),
  });

  it('finds the smallest gap and where it is, with a standard error of the problems', () => {
    const curve = [curveAt(0.05, 0.6), curveAt(0.1, 0.8)];
    const samples = resamples(200, 400, 3);
    const gap = gapOf(curve, (share) => 0.5 + share, samples);
    expect(gap).toMatchObject({ from: 0.05, to: 0.1 });
    expect(gap?.smallest).toBeCloseTo(0.05, 12);
    expect(gap?.at).toBeCloseTo(0.05, 12);
    expect(gap?.mean).toBeCloseTo(0.125, 9);
    // The reference does not vary, so the error is that of the accuracy alone.
    expect(gap?.standardError).toBeCloseTo(standardErrorOf(0.6, 200), 2);
  });

  it('against itself a curve has no gap in any resample; without a common share there is none', () => {
    const curve = [curveAt(0.05, 0.6), curveAt(0.1, 0.8)];
    const samples = resamples(200, 50, 3);
    const { reference, ...within } = curveReference(curve);
    expect(gapOf(curve, reference, samples, within)).toMatchObject({
      smallest: 0,
      standardError: 0,
      meanStandardError: 0,
    });
    expect(gapOf(curve, reference, samples, { from: 0.2, to: 0.3 })).toBeUndefined();
  });
});

describe('statistics', () => {
  it('resamples draw as many problems as there are, the same for a seed', () => {
    const samples = resamples(50, 20, 9);
    expect(samples.map((weights) => sum([...weights]))).toEqual(Array.from({ length: 20 }, () => 50));
    expect(resamples(50, 20, 9)).toEqual(samples);
    expect(resamples(50, 20, 10)).not.toEqual(samples);
  });

  it('the spread of a mean is its standard error', () => {
    const values = Array.from({ length: 400 }, (_, i) => (i < 100 ? 1 : 0));
    const { standardError, low, high } = spreadOf(
      resamples(400, 2000, 1),
      (weights) => sum(values.map((value, i) => value * (weights[i] ?? 0))) / 400,
    );
    expect(standardError).toBeCloseTo(standardErrorOf(0.25, 400), 2);
    expect((high - low) / (2 * 1.96 * standardError)).toBeCloseTo(1, 1);
  });

  it('McNemar’s test is the two-sided binomial tail of the problems that differ', () => {
    const a = [1, 1, 1, 1, 1, 0, 1, 0];
    const b = [0, 0, 0, 0, 0, 1, 1, 0];
    expect(mcNemar(a, b)).toEqual({
      p: expect.closeTo((2 * (1 + 6)) / 64, 12) as number,
      onlyA: 5,
      onlyB: 1,
    });
    expect(mcNemar(a, a).p).toBe(1);
  });
});

describe('the goal', () => {
  const list = (change: {
    problems?: number;
    reached?: string[];
    numTrained?: number;
    below?: string;
  }): ListReport => ({
    list: 'test',
    problems: change.problems ?? 400,
    rows: [],
    references: [],
    againstQueries: [ORACLE, 'queries at random'].map((reference) => ({
      algorithm: 'r2r',
      reference,
      isAbove: reference !== change.below,
    })),
    againstEntropy: [],
    goal: {
      maxShare: 0.07,
      ofLarge: 0.98,
      reachedBy: [],
      reachedByTrained: change.reached ?? ['r2r'],
      numTrained: change.numTrained ?? 1,
    },
  });

  it('is missed without a trained algorithm at it, or with a curve below queries; an oracle and short lists excuse', () => {
    expect(isGoalMissed(list({}))).toBe(false);
    expect(isGoalMissed(list({ reached: [] }))).toBe(true);
    expect(isGoalMissed(list({ reached: [], numTrained: 0 }))).toBe(false);
    expect(isGoalMissed(list({ below: 'queries at random' }))).toBe(true);
    expect(isGoalMissed(list({ below: ORACLE }))).toBe(false);
    expect(isGoalMissed(list({ reached: [], problems: 100 }))).toBe(false);
  });
});
