import { MODES } from '../lab/modes.ts';
import { curves, groupedBars, legend, stackedBars, type Frame, type Series } from '../plot/panel.ts';
import { svg, text } from '../plot/svg.ts';
import type { AblationReport, ReportRow } from './report.ts';

const WIDTH = 1180;
const PANEL = { width: 560, height: 290 };
const BAND = 2 * PANEL.height + 70;

const modeSeries: readonly Series[] = MODES.map((name, colour) => ({ name, colour }));

const PARTS = ['modelRun', 'routing', 'sampling', 'bus', 'other', 'waiting'] as const;
const PART_COLOURS = [4, 5, 1, 3, 6, 0] as const;
const partSeries: readonly Series[] = PARTS.map((name, i) => ({ name, colour: PART_COLOURS[i] ?? i }));

const settingOf = ({ concurrency, outputTokens }: ReportRow): string =>
  outputTokens === null ? `N=${concurrency}` : `N=${concurrency}, ${outputTokens}`;

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

function throughputPanel(frame: Frame, rows: readonly ReportRow[]): string[] {
  const groups = unique(rows.map(settingOf)).map((label) => ({
    label,
    values: MODES.map(
      (mode) => rows.find((row) => row.mode === mode && settingOf(row) === label)?.tokensPerSecond,
    ),
  }));
  const title = 'Tokens/s over all requests';
  return groupedBars(frame, { title, x: 'requests alive (and answer length)' }, modeSeries, groups);
}

/** So much faster or slower than the others that these would be one dot; they are among the bars. */
const OFF_THE_SCALE: readonly string[] = ['sequential', 'small-only'];

function speedPanel(frame: Frame, report: AblationReport, pair: string): string[] {
  const shortest = Math.min(
    ...report.rows.filter((row) => row.pair === pair).map((row) => row.outputTokens ?? 0),
  );
  const lines = report.curves.speed
    .filter(
      (curve) =>
        curve.pair === pair && (curve.outputTokens ?? 0) === shortest && !OFF_THE_SCALE.includes(curve.mode),
    )
    .map(({ mode, points }) => ({
      name: mode,
      colour: MODES.indexOf(mode),
      points: points.map(({ concurrency, tokensPerSecond: y, perUserTokensPerSecond: x }) => ({
        x,
        y,
        label: String(concurrency),
      })),
    }));
  return curves(
    frame,
    { title: 'Aggregate against per-user speed (numbers: requests alive)', x: 'tokens/s that one user sees' },
    lines,
  );
}

/** The last settings are the busiest ones. */
const MAX_HOME_BARS = 9;

function homeStepPanel(frame: Frame, rows: readonly ReportRow[]): string[] {
  const groups = rows.flatMap((row) => {
    const { homeStep, mode } = row;
    if (!homeStep) return [];
    return [{ label: `${mode}\n${settingOf(row)}`, values: PARTS.map((part) => homeStep.shares[part]) }];
  });
  const labels = { title: 'A home step', x: '' };
  return [
    ...stackedBars(frame, labels, partSeries, groups.slice(-MAX_HOME_BARS)),
    ...legend(frame.x + 150, frame.y + 16, partSeries),
  ];
}

function restartPanel(frame: Frame, report: AblationReport, pair: string): string[] {
  const groups = report.curves.restart
    .filter((point) => point.pair === pair)
    .map(({ concurrency, outputTokens, restartToEager }) => ({
      label: outputTokens === null ? `N=${concurrency}` : `N=${concurrency}, ${outputTokens}`,
      values: [restartToEager, 1],
    }));
  const series: Series[] = [
    { name: 'restart', colour: MODES.indexOf('restart') },
    { name: 'resume (eager)', colour: MODES.indexOf('eager') },
  ];
  const title = 'Restarting against resuming, both eager';
  return groupedBars(frame, { title, x: 'requests alive (and answer length)' }, series, groups);
}

/** Everything on one page. */
export function ablationPage(report: AblationReport): string {
  const { cpu, cores, node, broker } = report.machine;
  const parts = [
    text(20, 28, 'Where the speed comes from', { size: 18, bold: true }),
    text(
      20,
      48,
      `${cpu}, ${cores} cores, Node ${node}, ${broker}. All modes of a setting in interleaved rounds.`,
    ),
    ...legend(20, 70, modeSeries),
  ];
  report.pairs.forEach(({ pair, label }, index) => {
    const top = 95 + index * BAND;
    const rows = report.rows.filter((row) => row.pair === pair);
    const frame = (column: number, line: number): Frame => ({
      x: 20 + column * (PANEL.width + 20),
      y: top + 20 + line * (PANEL.height + 10),
      ...PANEL,
    });
    parts.push(
      text(20, top + 6, label, { size: 13, bold: true }),
      ...throughputPanel(frame(0, 0), rows),
      ...speedPanel(frame(1, 0), report, pair),
      ...homeStepPanel(frame(0, 1), rows),
      ...restartPanel(frame(1, 1), report, pair),
    );
  });
  return svg(WIDTH, 110 + report.pairs.length * BAND, parts);
}
