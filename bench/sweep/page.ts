import { curves, type Curve } from '../plot/panel.ts';
import { svg, text } from '../plot/svg.ts';
import type { SweepResult } from './measure.ts';

export interface SweepReportPair {
  pair: string;
  label: string;
  hasRandomWeights: boolean;
  results: SweepResult[];
}

const PANEL = { width: 420, height: 280 };
const AUTO_COLOUR = 5;
const SWEEP_COLOUR = 4;
const PAIR_COLOUR = 1;

function curvesOf({ points, concurrency }: SweepResult): Curve[] {
  const own = points.flatMap(({ thresholds, tokensPerSecond }) =>
    thresholds === null ? [] : [{ home: thresholds[0], x: thresholds[1], y: tokensPerSecond }],
  );
  const auto = points.find(({ thresholds }) => thresholds === null)?.tokensPerSecond ?? 0;
  const alone = own.filter(({ home }) => home === 1).sort((a, b) => a.x - b.x);
  const pairs = own
    .filter(({ home }) => home > 1)
    .map(({ home, x, y }): Curve => ({
      name: 'home waits too',
      colour: PAIR_COLOUR,
      points: [{ x, y, label: `${home},${x}` }],
    }));
  return [
    { name: 'home 1', colour: SWEEP_COLOUR, points: alone },
    ...pairs,
    {
      name: 'default',
      colour: AUTO_COLOUR,
      points: [
        { x: 0, y: auto, label: 'default' },
        { x: concurrency, y: auto },
      ],
    },
  ];
}

/** Measured tokens/s over the guest's threshold; orange: the home waits too; red: what the runtime chose itself. */
export function sweepPage(pairs: readonly SweepReportPair[]): string {
  const columns = Math.max(1, ...pairs.map(({ results }) => results.length));
  const parts = [
    text(20, 28, 'Thresholds by measurement, and what the runtime chose', { size: 18, bold: true }),
  ];
  pairs.forEach(({ label, results }, line) => {
    const top = 60 + line * (PANEL.height + 40);
    parts.push(text(20, top, label, { size: 13, bold: true }));
    results.forEach((result, column) => {
      const frame = { x: 20 + column * PANEL.width, y: top + 10, ...PANEL };
      const share = `${(100 * result.share).toFixed(1)} ± ${(100 * result.shareStandardError).toFixed(1)}`;
      const title = `${result.concurrency} alive: default ${share} % of the best (${result.best.join(',')})`;
      parts.push(...curves(frame, { title, x: 'threshold of the large model' }, curvesOf(result)));
    });
  });
  return svg(40 + columns * PANEL.width, 80 + pairs.length * (PANEL.height + 40), parts);
}
