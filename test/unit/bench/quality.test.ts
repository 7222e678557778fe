import { resolve } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uniform } from '../../../core/random.ts';
import { algorithmsOf, splitByHead } from '../../../bench/quality/algorithms.ts';
import {
  chosenPoint,
  nearestPoints,
  refinedThreshold,
  thresholdFor,
} from '../../../bench/quality/calibration.ts';
import { pointOf, type Outcome } from '../../../bench/quality/outcome.ts';
import { markdownTable } from '../../../bench/quality/format.ts';
import { activatedParameters, passesOf } from '../../../bench/quality/passes.ts';
import { oracleQueries, randomQueries, uncertainQueries } from '../../../bench/quality/query-level.ts';
import { readSettings } from '../../../bench/quality/settings.ts';

describe('thresholds by quantile', () => {
  const numSent = {
    above: (signals: readonly number[], threshold: number) => signals.filter((x) => x > threshold).length,
    'at-or-above': (signals: readonly number[], threshold: number) =>
      signals.filter((x) => x >= threshold).length,
    below: (signals: readonly number[], threshold: number) => signals.filter((x) => x < threshold).length,
  };
  const distinct = fc.uniqueArray(fc.double({ min: 0, max: 1, noNaN: true }), {
    minLength: 2,
    maxLength: 60,
    comparator: (a, b) => Math.abs(a - b) < 1e-12,
  });

  it.each(['above', 'at-or-above', 'below'] as const)('%s: as many as asked for are sent', (side) => {
    fc.assert(
      fc.property(distinct, fc.double({ min: 0, max: 1, noNaN: true }), (signals, share) => {
        const wanted = Math.round(share * signals.length);
        // At least one value must stay on either side of a threshold taken from the values.
        const [least, most] = side === 'at-or-above' ? [1, signals.length] : [0, signals.length - 1];
        const sent = numSent[side](signals, thresholdFor(signals, share, side));
        expect(sent).toBe(Math.min(most, Math.max(least, wanted)));
      }),
    );
  });

  it('and so for every number of signals and of those sent', () => {
    for (let n = 1; n <= 60; n += 1) {
      const signals = Array.from({ length: n }, (_, i) => i / n);
      for (let sent = 0; sent < n; sent += 1) {
        const share = sent / n;
        expect([n, numSent.above(signals, thresholdFor(signals, share, 'above'))]).toEqual([n, sent]);
        expect([n, numSent.below(signals, thresholdFor(signals, share, 'below'))]).toEqual([n, sent]);
      }
    }
  });

  it('never sends more than asked for where many signals are equal and equality stays', () => {
    const signals = [0.5, 0.5, 0.5, 0.9, 0.1];
    expect(numSent.above(signals, thresholdFor(signals, 0.4, 'above'))).toBe(1);
    expect(numSent.below(signals, thresholdFor(signals, 0.6, 'below'))).toBe(1);
  });
});

describe('the choice on validation', () => {
  const points = [
    { threshold: 0.1, share: 0.04, accuracy: 0.8 },
    { threshold: 0.05, share: 0.06, accuracy: 0.9 },
    { threshold: 0.04, share: 0.065, accuracy: 0.9 },
    { threshold: 0.01, share: 0.12, accuracy: 0.99 },
  ];

  it('takes the best accuracy within the share, and of equals the cheapest', () => {
    expect(chosenPoint(points, 0.07)).toBe(points[1]);
    expect(chosenPoint(points, 0.2)).toBe(points[3]);
    expect(chosenPoint(points, 0.03)).toBeUndefined();
  });

  it('adds a threshold between those around the share, unless one is there already', () => {
    expect(refinedThreshold(points, 0.09, 0.03)).toBeCloseTo(0.04 + (0.025 / 0.055) * (0.01 - 0.04), 12);
    expect(refinedThreshold(points, 0.066, 0.03)).toBeUndefined();
    expect(refinedThreshold(points, 0.5, 0.03)).toBeUndefined();
    expect(refinedThreshold(points, 0.01, 0.03)).toBeUndefined();
  });

  it('reports the points that came nearest to the shares, none twice', () => {
    expect(nearestPoints(points, [0.03, 0.04, 0.1])).toEqual([points[0], points[3]]);
    expect(nearestPoints([], [0.03])).toEqual([]);
  });
});

const outcome = (rows: readonly (readonly [number, number, number])[]): Outcome => ({
  correct: rows.map(([right]) => right),
  tokens: rows.map(([, tokens]) => tokens),
  largeTokens: rows.map(([, , large]) => large),
});

/** Small and large alone on the same problems. */
const pairs = fc
  .array(fc.tuple(fc.nat(1), fc.nat(1), fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 30 })), {
    minLength: 1,
    maxLength: 7,
  })
  .map((rows) => ({
    small: outcome(rows.map(([right, , tokens]) => [right, tokens, 0])),
    large: outcome(rows.map(([, right, , tokens]) => [right, tokens, tokens])),
  }));

/** What sending exactly these problems to the large model gives. */
function mixed(small: Outcome, large: Outcome, isLarge: (i: number) => boolean) {
  const pick = (key: keyof Outcome) =>
    small[key].map((value, i) => (isLarge(i) ? (large[key][i] ?? 0) : value));
  return { correct: pick('correct'), tokens: pick('tokens'), largeTokens: pick('largeTokens') };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const subsets = (n: number): number[] => Array.from({ length: 2 ** n }, (_, mask) => mask);
const has = (mask: number, i: number): boolean => ((mask >> i) & 1) === 1;

describe('query-level routing', () => {
  it('at random: the expectation over all assignments', () => {
    fc.assert(
      fc.property(pairs, fc.double({ min: 0, max: 1, noNaN: true }), ({ small, large }, q) => {
        const n = small.correct.length;
        let [right, tokens, largeTokens] = [0, 0, 0];
        for (const mask of subsets(n)) {
          const numLarge = sum(small.correct.map((_, i) => (has(mask, i) ? 1 : 0)));
          const probability = q ** numLarge * (1 - q) ** (n - numLarge);
          const result = mixed(small, large, (i) => has(mask, i));
          right += probability * sum(result.correct);
          tokens += probability * sum(result.tokens);
          largeTokens += probability * sum(result.largeTokens);
        }
        expect(randomQueries(small, large).accuracyAt(largeTokens / tokens)).toBeCloseTo(right / n, 9);
      }),
    );
  });

  it('by uncertainty: passes through every split of the order', () => {
    fc.assert(
      fc.property(pairs, ({ small, large }) => {
        const uncertainty = small.correct.map((_, i) =>
          uniform({ seed: 1, position: i, model: 0, purpose: 'simulation' }),
        );
        const query = uncertainQueries(small, large, uncertainty);
        const order = uncertainty
          .map((_, i) => i)
          .sort((a, b) => (uncertainty[b] ?? 0) - (uncertainty[a] ?? 0));
        for (let k = 0; k <= order.length; k += 1) {
          const sent = new Set(order.slice(0, k));
          const { share, accuracy } = pointOf(mixed(small, large, (i) => sent.has(i)));
          expect(query.accuracyAt(share)).toBeCloseTo(accuracy, 9);
        }
      }),
    );
  });

  it('by an oracle: no assignment lies above it, and the assignments of gains alone reach it', () => {
    fc.assert(
      fc.property(pairs, ({ small, large }) => {
        const oracle = oracleQueries(small, large);
        for (const mask of subsets(small.correct.length)) {
          const { share, accuracy } = pointOf(mixed(small, large, (i) => has(mask, i)));
          expect(oracle.accuracyAt(share)).toBeGreaterThanOrEqual(accuracy - 1e-9);
        }
        const isGain = (i: number): boolean => small.correct[i] === 0 && large.correct[i] === 1;
        const best = pointOf(mixed(small, large, isGain));
        expect(oracle.accuracyAt(best.share)).toBeCloseTo(best.accuracy, 9);
      }),
    );
  });

  it('weights are problems that occur so often', () => {
    fc.assert(
      fc.property(pairs, fc.double({ min: 0, max: 1, noNaN: true }), ({ small, large }, share) => {
        const weights = small.correct.map((_, i) => (i * 2) % 3);
        if (sum(weights) === 0) return;
        const repeat = (one: Outcome): Outcome => {
          const repeated = (values: readonly number[]) =>
            values.flatMap((value, i) => Array.from({ length: weights[i] ?? 0 }, () => value));
          return {
            correct: repeated(one.correct),
            tokens: repeated(one.tokens),
            largeTokens: repeated(one.largeTokens),
          };
        };
        for (const make of [randomQueries, oracleQueries])
          expect(make(small, large).accuracyAt(share, weights)).toBeCloseTo(
            make(repeat(small), repeat(large)).accuracyAt(share),
            9,
          );
      }),
    );
  });
});

describe('passes and parameters', () => {
  const shape = (writers: string, handoffs: number) => ({
    promptTokens: 10,
    writers: [...writers].map((letter) => (letter === 's' ? 'small' : 'large')),
    handoffs,
  });

  it('one model alone steps and reads once per token, and never reads its last one', () => {
    expect([...passesOf(shape('lll', 2), 'small', 'kept')]).toEqual([
      ['large', { written: 3, steps: 3, read: 12 }],
    ]);
  });

  it('single tokens: the home steps at every token, the guest reads up to its last one', () => {
    const passes = passesOf(shape('sllsl', 6), 'small', 'single-tokens');
    expect(passes.get('small')).toEqual({ written: 2, steps: 5, read: 14 });
    expect(passes.get('large')).toEqual({ written: 3, steps: 3, read: 14 });
    expect(passesOf(shape('lss', 2), 'small', 'single-tokens').get('large')).toEqual({
      written: 1,
      steps: 1,
      read: 10,
    });
  });

  it('spans: the home steps once per visit, and not inside the guest’s', () => {
    const passes = passesOf(shape('slll', 2), 'small', 'spans');
    expect(passes.get('small')).toEqual({ written: 1, steps: 2, read: 11 });
    expect(passesOf(shape('lls', 2), 'small', 'spans').get('small')).toEqual({
      written: 1,
      steps: 2,
      read: 12,
    });
    expect(passesOf(shape('ll', 2), 'small', 'spans').get('small')).toEqual({
      written: 0,
      steps: 1,
      read: 10,
    });
  });

  it('counts parameters per token of the answers, by writer, by step and by token read', () => {
    const rows = [shape('sllsl', 6), shape('sss', 0)].map((one) => ({
      ...one,
      passes: passesOf(one, 'small', 'single-tokens'),
    }));
    const sizes = new Map([
      ['small', 100],
      ['large', 1000],
    ]);
    expect(activatedParameters(rows, sizes, 'small', 7)).toEqual({
      byWriter: (5 * 100 + 3 * 1000) / 8,
      bySteps: (8 * 107 + 3 * 1000) / 8,
      byRead: (26 * 100 + 8 * 7 + 14 * 1000) / 8,
    });
    expect(() => activatedParameters(rows, new Map(), 'small', 0)).toThrow(/small/);
  });
});

describe('settings', () => {
  it('reads percentages as shares and names what is wrong', () => {
    expect(readSettings(['--shares', '3,3,5', '--max-share', '8'])).toMatchObject({
      lists: ['test'],
      shares: [0.03, 0.05],
      maxShare: 0.08,
      numValidation: 200,
    });
    expect(readSettings(['--help'])).toBeUndefined();
    for (const flags of [
      ['--shares', '100'],
      ['--shares', ''],
      ['--list', 'tset'],
      ['--algorithms', 'r3r'],
      ['--problems', '0'],
    ])
      expect(() => readSettings(flags)).toThrow(
        expect.objectContaining({
          code: 'config_invalid',
          message: expect.stringContaining(flags[0] ?? '') as string,
        }),
      );
  });
});

it('networks are found below a folder that counts from the working directory, wherever the configuration lies', () => {
  const { ready, missing } = splitByHead(algorithmsOf('models/routers'));
  expect(missing).toEqual([]);
  const r2r = resolve('models/routers/r2r/head.safetensors');
  expect(ready.find(({ name }) => name === 'r2r')).toMatchObject({ head: r2r, options: { head: r2r } });
});

it('a Markdown table has columns of one width', () => {
  expect(
    markdownTable([
      ['router', 'x'],
      ['a', '12.50'],
      ['long name', '1'],
    ]).split('\n'),
  ).toEqual([
    '| router    |     x |',
    '| --------- | ----: |',
    '| a         | 12.50 |',
    '| long name |     1 |',
  ]);
});
