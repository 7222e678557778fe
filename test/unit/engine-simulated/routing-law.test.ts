import { describe, expect, it } from 'vitest';
import { routingSignals, RUN_LENGTH_LAWS, type RoutingLaw } from '../../../engine/simulated/index.ts';
import {
  bimodalRuns,
  deterministicRuns,
  geometricRuns,
  heavyTailedRuns,
} from '../../../engine/simulated/run-lengths.ts';

/** Lengths of the runs between leaves over many requests, and the share of positions that leave. */
function measure(
  law: RoutingLaw,
  leave: number,
  numRequests = 300,
  length = 256,
): { share: number; runs: number[] } {
  const signalOf = routingSignals(law, 1, 7);
  const runs: number[] = [];
  let numLeaves = 0;
  for (let seed = 1; seed <= numRequests; seed += 1) {
    const signal = signalOf(seed);
    let last: number | undefined;
    for (let position = 16; position < 16 + length; position += 1) {
      if (signal(position) >= leave) continue;
      numLeaves += 1;
      if (last !== undefined) runs.push(position - last);
      last = position;
    }
  }
  return { share: numLeaves / (numRequests * length), runs };
}

const variance = (values: readonly number[]): number => {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
};

it('handoffs so rare that a table of their runs would fill the memory are refused', () => {
  for (const kind of RUN_LENGTH_LAWS)
    expect(() => routingSignals({ kind, leave: 1e-9 }, 1, 7)).toThrow(/leave must be 0 or ≥ 0.0001/);
});

describe('laws of run lengths', () => {
  it.each([1, 2.5, 1 / 0.35, 20])('all have the mean that was asked for: %d', (mean) => {
    for (const make of [geometricRuns, deterministicRuns, bimodalRuns, heavyTailedRuns])
      expect(make(mean).mean).toBeCloseTo(mean, 6);
  });

  it('are drawn with their mean, and what is left of a run is the equilibrium law', () => {
    for (const make of [geometricRuns, deterministicRuns, bimodalRuns, heavyTailedRuns]) {
      const law = make(4);
      const draws = Array.from({ length: 20_000 }, (_, i) => law.sample((i + 0.5) / 20_000));
      expect(draws.reduce((a, b) => a + b, 0) / draws.length).toBeCloseTo(4, 1);
      const left = Array.from({ length: 20_000 }, (_, i) => law.sampleLeft((i + 0.5) / 20_000));
      // P(R = 1) = 1 / mean, whatever the law: a run ends at each position with the mean rate.
      expect(left.filter((r) => r === 1).length / left.length).toBeCloseTo(0.25, 2);
    }
  });

  it.each(RUN_LENGTH_LAWS)('%s leaves at each position with the given probability', (kind) => {
    for (const leave of [0.1, 0.35]) {
      const { share } = measure({ kind, leave }, leave);
      expect(Math.abs(share / leave - 1)).toBeLessThan(0.06);
    }
  });

  it('differ in their spread as they say', () => {
    const spread = (kind: (typeof RUN_LENGTH_LAWS)[number]): number =>
      variance(measure({ kind, leave: 0.1 }, 0.1).runs);
    expect(spread('deterministic')).toBe(0);
    expect(spread('geometric')).toBeGreaterThan(60); // (1 − p) / p² = 90, runs cut at the end of an answer
    expect(spread('geometric')).toBeLessThan(100);
    expect(spread('bursty')).toBeGreaterThan(1.3 * spread('geometric'));
    expect(spread('heavy-tailed')).toBeGreaterThan(1.3 * spread('geometric'));
  });

  it('never or always leaving is possible with every law', () => {
    for (const kind of RUN_LENGTH_LAWS) {
      expect(measure({ kind, leave: 0 }, 0, 3).share).toBe(0);
      expect(measure({ kind, leave: 1 }, 1, 3).share).toBe(1);
    }
  });
});

describe('signals', () => {
  const laws: RoutingLaw[] = [
    { kind: 'bernoulli' },
    { kind: 'correlated', rho: 0.5 },
    ...RUN_LENGTH_LAWS.map((kind) => ({ kind, leave: 0.3 })),
  ];

  it.each(laws)('$kind: a function of seed and position, whatever was asked before', (law) => {
    const signalOf = routingSignals(law, 1, 7);
    const forwards = signalOf(5);
    const inOrder = Array.from({ length: 200 }, (_, i) => forwards(i));
    const backwards = signalOf(5);
    const reversed = Array.from({ length: 200 }, (_, i) => backwards(199 - i)).reverse();
    expect(reversed).toEqual(inOrder);
    expect(inOrder.every((u) => u >= 0 && u <= 1)).toBe(true);
    const other = signalOf(6);
    expect(inOrder.map((_, i) => other(i))).not.toEqual(inOrder);
  });

  it('correlated draws are shared by rho of the positions, and only there', () => {
    const signalOf = routingSignals({ kind: 'correlated', rho: 0.4 }, 1, 7);
    const [a, b] = [signalOf(1), signalOf(2)];
    const shared = Array.from({ length: 5000 }, (_, i) => a(i) === b(i)).filter(Boolean).length / 5000;
    expect(Math.abs(shared - 0.4)).toBeLessThan(0.03);
  });

  it('refuse probabilities outside [0, 1]', () => {
    expect(() => routingSignals({ kind: 'correlated', rho: 2 }, 1, 0)).toThrow('rho');
    expect(() => routingSignals({ kind: 'bursty', leave: NaN }, 1, 0)).toThrow('leave');
  });
});
