import type { BenchModel, BenchSettings } from './bench-model.ts';
import { median } from '../handoff/statistics.ts';
import { interleave, timed } from './interleave.ts';
import type { Measurement } from './measurement.ts';

/**
 * What it costs that one row comes back after a handoff. At its home it brings the one token that the other model
 * made; as a guest it brings two, the token before the one to be replaced among them. Between the measured
 * steps the row is away, so that its slot has been given up.
 */
export function measureRejoin(model: BenchModel, settings: BenchSettings, rounds: number): Measurement[] {
  const { rows, contextTokens } = settings;
  const step = (counts: readonly number[]): void => {
    const fed = model.caches
      .map((cache, row) => ({
        cache,
        past: contextTokens,
        tokens: [7 + row, 11].slice(0, counts[row]),
        wanted: 'last' as const,
      }))
      .filter(({ tokens }) => tokens.length > 0);
    model.runner.run(fed);
  };
  const ordinary = Array.from({ length: rows }, () => 1);
  const with0 = (count: number): number[] => ordinary.with(rows - 1, count);
  const samples = interleave(
    {
      ordinary: () => {
        step(ordinary);
        return timed(() => step(ordinary));
      },
      home: () => {
        step(with0(0));
        return timed(() => step(with0(1)));
      },
      guest: () => {
        step(with0(0));
        return timed(() => step(with0(2)));
      },
    },
    rounds,
  );
  const medianOf = (name: string): number => median(samples[name] ?? []);
  const base = medianOf('ordinary');
  return [
    { name: `ordinary decode step, ${rows} rows at ${contextTokens} tokens`, value: base, unit: 'ms' },
    {
      name: 'step in which a row rejoins at home (1 token) / ordinary',
      value: medianOf('home') / base,
      unit: '×',
      atMost: 1.05,
    },
    {
      name: 'step in which a row rejoins as a guest (2 tokens) / ordinary',
      value: medianOf('guest') / base,
      unit: '×',
      atMost: 1.12,
    },
  ];
}
