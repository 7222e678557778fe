import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ModelEstimator } from '../../../scheduling/estimate/model-estimator.ts';
import { OverlapEstimate } from '../../../scheduling/estimate/overlap-estimate.ts';
import { RoutingEstimate } from '../../../scheduling/estimate/routing-estimate.ts';
import { curveMs, curveOf } from '../../../scheduling/estimate/step-curve.ts';
import { StepTimes } from '../../../scheduling/estimate/step-times.ts';
import { stream } from './support/stream.ts';

const step = (
  rows: number,
  ms: number,
  more: { tokens?: number; overlapMs?: number } = {},
): Parameters<StepTimes['observe']>[0] => ({ rows, tokens: rows, ms, overlapMs: 0, ...more });

describe('routing', () => {
  const afterShift = (seed: number, from: number, to: number, numAfter: number): number => {
    const draw = stream(seed);
    const estimate = new RoutingEstimate({ numModels: 2 });
    for (let i = 0; i < 1000; i += 1) estimate.observe(draw() < from ? 2 : 1, 1);
    for (let i = 0; i < numAfter; i += 1) estimate.observe(draw() < to ? 2 : 1, 1);
    return estimate.routing()?.[1] ?? NaN;
  };

  for (const [from, to] of [
    [0.05, 0.5],
    [0.5, 0.05],
  ] as const) {
    it(`follows a shift from ${from} to ${to} within 200 outcomes to 25 %`, () => {
      const found = Array.from({ length: 40 }, (_, seed) => afterShift(seed, from, to, 200));
      const mean = found.reduce((sum, p) => sum + p, 0) / found.length;
      expect(Math.abs(mean / to - 1)).toBeLessThan(0.25);
      // No single one is still near where it came from, nor half-way.
      for (const p of found) expect(Math.abs(p - to)).toBeLessThan(0.3 * Math.abs(from - to));
    });
  }

  it('is quiet while nothing changes', () => {
    const draw = stream(7);
    const estimate = new RoutingEstimate({ numModels: 2 });
    let worst = 0;
    for (let i = 0; i < 5000; i += 1) {
      estimate.observe(draw() < 0.35 ? 2 : 1, 1);
      if (i > 500) worst = Math.max(worst, Math.abs((estimate.routing()?.[1] ?? 1) - 0.35));
    }
    expect(worst).toBeLessThan(0.15);
  });

  it('is a distribution whatever it sees, and keeps the tokens of each way apart', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 600 }), (ways) => {
        const estimate = new RoutingEstimate({ numModels: 4 });
        for (const to of ways) estimate.observe(to, to);
        const isUsable = ways.some((to) => to >= 1 && to <= 4);
        const routing = estimate.routing();
        expect(routing === undefined).toBe(!isUsable);
        if (!routing) return;
        expect(routing.reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 12);
        expect(Math.min(...routing)).toBeGreaterThanOrEqual(0);
        estimate
          .commits(() => -1)
          .forEach((tokens, j) => {
            expect(tokens).toBeCloseTo(ways.includes(j + 1) ? j + 1 : -1, 9);
          });
      }),
      { numRuns: 60 },
    );
  });
});

describe('step times', () => {
  it('are exact for constants, at any number of rows', () => {
    const times = new StepTimes();
    for (let i = 0; i < 50; i += 1) times.observe(step(1 + (i % 5), 27.9));
    for (const rows of [1, 3, 8, 16]) expect(times.expectMs(rows)).toBeCloseTo(27.9, 4);
    expect(times.jitter).toBeCloseTo(0, 4);
  });

  it('one number of rows alone is taken for a constant', () => {
    const times = new StepTimes();
    for (let i = 0; i < 50; i += 1) times.observe(step(4, 12));
    expect(times.expectMs(4)).toBe(12);
    expect(times.expectMs(16)).toBeCloseTo(12, 1);
  });

  it('stay constant where they are, however long all steps have the same few rows', () => {
    const draw = stream(11);
    const times = new StepTimes();
    for (let i = 0; i < 3000; i += 1) {
      const rows = i < 1000 ? 5 + Math.floor(10 * draw()) : 1 + Math.floor(2 * draw());
      const noise = 1 + 1e-12 * draw(); // what rounding leaves of virtual times
      times.observe(step(rows, 27.9 * noise, { tokens: rows + Math.floor(3 * draw()) }));
      for (const unseen of [3, 4, 20, 32, 64])
        if (i > 20) expect(times.expectMs(unseen)).toBeCloseTo(27.9, 2);
    }
  });

  it('never fall with the number of rows where a fit must guess', () => {
    const sample = fc.tuple(fc.integer({ min: 1, max: 12 }), fc.double({ min: 1, max: 100, noNaN: true }));
    fc.assert(
      fc.property(fc.array(sample, { minLength: 1, maxLength: 200 }), (samples) => {
        const times = new StepTimes();
        for (const [rows, ms] of samples) times.observe(step(rows, ms));
        expect(times.expectMs(64)).toBeGreaterThanOrEqual(times.expectMs(13) - 1e-3);
      }),
    );
  });

  it('survive outliers of ten times', () => {
    const draw = stream(3);
    const times = new StepTimes();
    for (let i = 0; i < 2000; i += 1) {
      const rows = 1 + Math.floor(draw() * 8);
      const ms = (5 + 0.5 * rows) * (0.97 + 0.06 * draw()) * (draw() < 0.05 ? 10 : 1);
      times.observe(step(rows, ms));
    }
    for (const rows of [1, 4, 8]) expect(times.expectMs(rows) / (5 + 0.5 * rows)).toBeCloseTo(1, 1);
    expect(times.expectMs(12) / 11).toBeGreaterThan(0.85);
    expect(times.expectMs(12) / 11).toBeLessThan(1.4);
    expect(times.jitter).toBeLessThan(0.2);
  });

  it('keep the steps of a ladder apart, and a prompt out of them', () => {
    const times = new StepTimes();
    const ladder = (rows: number): number => (rows <= 1 ? 4 : rows <= 8 ? 6 : 11);
    for (let i = 0; i < 400; i += 1) {
      const rows = [1, 2, 7, 9, 12][i % 5] ?? 1;
      if (i % 7 === 3) times.observe(step(rows, ladder(rows) + 40, { tokens: rows + 400 }));
      else times.observe(step(rows, ladder(rows)));
    }
    for (const rows of [1, 2, 7, 9, 12]) expect(times.expectMs(rows)).toBeCloseTo(ladder(rows), 6);
    expect(times.expectMs(4)).toBeCloseTo(6, 1); // between 2 and 7
  });

  it('are those of steps with as many tokens as usual, and tell what others take', () => {
    const draw = stream(13);
    const times = new StepTimes();
    const costMs = (rows: number, tokens: number): number => 30 + 6 * rows + 4 * tokens;
    for (let i = 0; i < 2000; i += 1) {
      const rows = 1 + Math.floor(8 * draw());
      let tokens = rows;
      for (let row = 0; row < rows; row += 1) while (draw() < 0.8 && tokens < 10 * rows) tokens += 1;
      times.observe(step(rows, costMs(rows, tokens) * (0.95 + 0.1 * draw()), { tokens }));
    }
    for (const rows of [2, 4, 8]) {
      const usual = times.expectMs(rows);
      expect(usual / costMs(rows, 4.6 * rows)).toBeGreaterThan(0.9);
      expect(usual / costMs(rows, 4.6 * rows)).toBeLessThan(1.1);
      for (const tokens of [rows, 3 * rows, 9 * rows])
        expect(Math.abs(times.expectMs(rows, tokens) / costMs(rows, tokens) - 1)).toBeLessThan(0.15);
      expect(times.expectMs(rows, 9 * rows)).toBeGreaterThan(times.expectMs(rows, 3 * rows) + 20 * rows);
    }
  });

  it('of numbers of rows that were seen once or twice do not stand out where all scatter', () => {
    const draw = stream(17);
    const times = new StepTimes();
    const scattered = (rows: number): number => 30 * rows * (0.4 + 1.2 * draw());
    for (let i = 0; i < 600; i += 1) {
      const rows = 1 + Math.floor(4 * draw());
      times.observe(step(rows, scattered(rows)));
    }
    times.observe(step(6, 400)); // more than twice what it takes
    expect(times.expectMs(6)).toBeLessThan(280);
    for (let i = 0; i < 200; i += 1) times.observe(step(6, 400 * (0.9 + 0.2 * draw())));
    expect(times.expectMs(6)).toBeGreaterThan(330); // unless they do
  });

  it('a lasting change passes within a few steps', () => {
    const times = new StepTimes();
    for (let i = 0; i < 100; i += 1) times.observe(step(2, 10));
    for (let i = 0; i < 5; i += 1) times.observe(step(2, 20));
    expect(times.expectMs(2)).toBeCloseTo(20, 6);
  });

  it('jitter is the relative standard deviation', () => {
    const draw = stream(5);
    const times = new StepTimes();
    for (let i = 0; i < 3000; i += 1) {
      const normal = Array.from({ length: 12 }, draw).reduce((sum, u) => sum + u, -6);
      times.observe(step(3, 10 * (1 + 0.1 * normal)));
    }
    expect(times.jitter).toBeGreaterThan(0.07);
    expect(times.jitter).toBeLessThan(0.14);
    expect(times.expectMs(3)).toBeCloseTo(10, 0);
  });
});

describe('contention', () => {
  const measure = (factor: number, noise: number): { factor: number; aloneMs: number } => {
    const draw = stream(11);
    const times = new StepTimes();
    for (let i = 0; i < 600; i += 1) {
      const workMs = 6 * (1 + noise * (2 * draw() - 1));
      const sharedWorkMs = workMs * Math.min(1, Math.max(0, 2 * draw() - 0.5));
      const overlapMs = sharedWorkMs / factor; // work done at the lower speed
      times.observe(step(2, workMs - sharedWorkMs + overlapMs, { overlapMs }));
    }
    return { factor: times.overlapFactor, aloneMs: times.expectMs(2) };
  };

  it.each([1, 0.8, 0.66, 0.5])('is found: %d', (factor) => {
    for (const noise of [0, 0.05]) {
      const found = measure(factor, noise);
      expect(Math.abs(found.factor - factor)).toBeLessThan(0.05);
      expect(Math.abs(found.aloneMs - 6)).toBeLessThan(0.4);
    }
  });

  it('is believed from others until the own steps tell, and is remembered when nothing overlaps any more', () => {
    const times = new StepTimes();
    for (let i = 0; i < 30; i += 1) times.observe(step(2, 9, { overlapMs: 9 }));
    expect(times.expectMs(2)).toBeCloseTo(9, 6);
    times.factorElsewhere = 2 / 3;
    times.observe(step(2, 9, { overlapMs: 9 }));
    expect(times.expectMs(2)).toBeCloseTo(6, 6); // read anew
    expect(times.ownOverlapFactor).toBe(1);
    times.factorElsewhere = 1;
    for (let i = 0; i < 200; i += 1) {
      const overlapMs = (i % 4) * 2;
      times.observe(step(2, 6 + overlapMs / 3, { overlapMs }));
    }
    for (let i = 0; i < 3000; i += 1) times.observe(step(2, 6));
    expect(times.overlapFactor).toBeCloseTo(2 / 3, 2);
    expect(times.expectMs(2)).toBeCloseTo(6, 3);
  });

  it('is not claimed where steps take long for other reasons and so overlap for longer', () => {
    const draw = stream(13);
    const estimate = new OverlapEstimate();
    for (let i = 0; i < 2000; i += 1) {
      const ms = 6 * (0.6 + 0.8 * draw()) * (draw() < 0.05 ? 8 : 1);
      estimate.observe(2, ms, ms * (0.5 + 0.5 * draw()));
    }
    expect(estimate.factor()).toBeGreaterThan(0.9);
  });

  it('is not claimed without evidence', () => {
    const estimate = new OverlapEstimate();
    for (let i = 0; i < 30; i += 1) estimate.observe(2, 10 + (i % 2), i % 2);
    expect(estimate.factor()).toBe(1);
    const alike = new OverlapEstimate();
    for (let i = 0; i < 500; i += 1) alike.observe(2, 10, 10);
    expect(alike.factor()).toBe(1);
  });
});

describe('what is told of a model', () => {
  it('nothing until a step and a row were seen; then curve, routing and commits', () => {
    const estimator = new ModelEstimator({ self: 1, home: 1, numModels: 2, maxNumSeqs: 32 });
    expect(estimator.estimates()).toBeUndefined();
    estimator.observeStep(step(4, 6));
    expect(estimator.estimates()).toBeUndefined();
    for (let i = 0; i < 4; i += 1) estimator.observeRow(i === 0 ? 2 : 1, i === 0 ? 0 : 1);
    const told = estimator.estimates();
    expect(told).toMatchObject({ routing: [0.75, 0.25], commits: [1, 0], numOutcomes: 4, maxNumSeqs: 32 });
    expect(curveMs(told?.curve ?? [], 4)).toBeCloseTo(6, 6);
  });

  it('a curve says the same as the function it was made from', () => {
    const affine = (rows: number): number => 5 + rows / 2;
    const curve = curveOf(affine, 40);
    for (let rows = 1; rows <= 40; rows += 1) expect(curveMs(curve, rows)).toBeCloseTo(affine(rows), 9);
    expect(curveMs(curve, 100)).toBeCloseTo(affine(40), 9);
    expect(curveMs([], 3)).toBe(0);
    expect(curveOf(() => 0, 8)).toEqual([]);
  });
});
