import type { ChainSpec } from '../../scheduling/throughput-model.ts';
import type { Curve } from './curve.ts';
import type { TuneResult } from './tune.ts';

const BAR_WIDTH = 40;

/** A result for people to read. */
export function tunePage(spec: ChainSpec & { overlapFactor: number }, result: TuneResult): string {
  const sections = [
    heading(spec),
    comparison(result),
    ...result.curves.map((curve) => curveLines(curve, result.best.thresholds)),
    tableLines(result),
    [
      `${result.states} states, ${result.seconds.toFixed(1)} s. Predicted by the throughput model, not measured.`,
    ],
  ];
  return sections.map((lines) => `${lines.join('\n')}\n`).join('\n');
}

function heading({ stepMs, concurrency, overlapFactor }: ChainSpec & { overlapFactor: number }): string[] {
  const devices =
    overlapFactor === 1
      ? 'devices of their own'
      : `a shared device (each at ${overlapFactor} of its speed while two run)`;
  const requests = concurrency === 1 ? '1 request' : `${concurrency} requests`;
  const models = stepMs.length === 1 ? '1 model' : `${stepMs.length} models`;
  return [`${models}, steps of ${stepMs.join(' / ')} ms, ${requests} alive, ${devices}`];
}

function comparison({ best, eager, lockstep, bound, optimum, default: chosen }: TuneResult): string[] {
  const rows: [string, string, number | undefined][] = [
    ['best thresholds', best.thresholds.join(', '), best.tokensPerSecond],
    ['default', chosen.isSampled ? `${chosen.name}, simulated` : chosen.name, chosen.tokensPerSecond],
    ['optimum of all policies', '', optimum?.tokensPerSecond],
    ['eager', '', eager?.tokensPerSecond],
    ['lockstep', 'all wait for all', lockstep.tokensPerSecond],
    ['bound', 'nobody ever waits', bound.tokensPerSecond],
  ];
  return rows.flatMap(([name, detail, tokensPerSecond]) => {
    if (tokensPerSecond === undefined) return [];
    const gain = 100 * (tokensPerSecond / best.tokensPerSecond - 1);
    const relative =
      name === 'best thresholds' ? '' : `  ${gain < 0 ? '−' : '+'}${Math.abs(gain).toFixed(1)} %`;
    return [
      `${name.padEnd(24)} ${detail.padEnd(24)} ${tokensPerSecond.toFixed(2).padStart(9)} tokens/s${relative}`,
    ];
  });
}

/** Bars from a little below the lowest value: the differences matter, not the whole. */
function curveLines({ model, points }: Curve, best: readonly number[]): string[] {
  const values = points.map(({ tokensPerSecond }) => tokensPerSecond);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const floor = low - 0.1 * (high - low);
  const others = best.flatMap((threshold, i) => (i + 1 === model ? [] : [`${threshold} at model ${i + 1}`]));
  const lines = points.map(({ threshold, tokensPerSecond }) => {
    const width =
      high === low ? BAR_WIDTH : Math.round((BAR_WIDTH * (tokensPerSecond - floor)) / (high - floor));
    const mark = threshold === best[model - 1] ? ' ◀' : '';
    const value = tokensPerSecond.toFixed(2).padStart(9);
    return `${String(threshold).padStart(4)} ${value} ${'█'.repeat(Math.max(1, width))}${mark}`;
  });
  return [
    `tokens/s over the threshold of model ${model} (${others.join(', ')}; bars do not start at 0)`,
    ...lines,
  ];
}

function tableLines({ table }: TuneResult): string[] {
  const lines = table.map(
    ({ alive, thresholds, tokensPerSecond }) =>
      `${String(alive).padStart(5)}  ${thresholds.join(', ').padEnd(12)} ${tokensPerSecond.toFixed(2).padStart(9)}`,
  );
  return ['alive  thresholds    tokens/s', ...lines];
}
