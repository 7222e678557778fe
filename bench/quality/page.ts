import { chart, type Axis, type ChartCurve, type ChartPoint } from '../plot/chart.ts';
import { legend, type Frame, type Series } from '../plot/panel.ts';
import { brief } from '../plot/scale.ts';
import { svg, text } from '../plot/svg.ts';
import { ALGORITHM_NAMES } from './settings.ts';
import type { ListReport, QualityReport, QualityRow } from './report.ts';

const WIDTH = 1180;
const PANEL = { width: 565, height: 400 };
const TOP = 120;

/** Colours of the algorithms, in the order of their names; what is not of one is grey or black. */
const ALGORITHM_COLOURS = [5, 1, 4, 3, 6, 2] as const;
const GREY = 0;
const BLACK = 7;
const DASHES = ['7 4', '2 4', '1 6'] as const;
const REFERENCE_COLOURS = [GREY, BLACK, GREY] as const;

/** A share or accuracy of 0 has no place on a logarithmic axis: it is drawn at its beginning. */
const LEAST_SHARE_PERCENT = 1;

const colourOfAlgorithm = (name: string): number =>
  ALGORITHM_COLOURS[ALGORITHM_NAMES.findIndex((known) => known === name)] ?? BLACK;

const algorithmsIn = ({ rows }: ListReport): string[] => [
  ...new Set(rows.flatMap(({ algorithm }) => algorithm ?? [])),
];

/** What a panel shows over its horizontal axis. */
interface View {
  title: string;
  axis: Axis;
  of: (row: QualityRow) => number;
  ofReference: (point: ListReport['references'][number]['points'][number]) => number;
  rules: { axis: 'x'; at: number; label: string }[];
}

function viewsOf(list: ListReport): View[] {
  const sizes = list.rows.map(({ activatedParameters }) => activatedParameters.bySteps / 1e6);
  const percent = 100 * list.goal.maxShare;
  const shareRule = { axis: 'x' as const, at: percent, label: `${brief(percent)} %` };
  return [
    {
      title: 'over the large model’s share of the tokens',
      axis: {
        label: 'tokens written by the large model, % (small and medium alone: none)',
        from: LEAST_SHARE_PERCENT,
        to: 100,
        ticks: [1, 2, 5, 10, 20, 50, 100],
        isLogarithmic: true,
      },
      of: ({ share }) => 100 * share,
      ofReference: ({ share }) => 100 * share,
      rules: [shareRule],
    },
    {
      title: 'over the parameters at work per token',
      axis: {
        label: 'parameters of the steps made per token of the answer, millions',
        from: Math.min(...sizes) * 0.9,
        to: Math.max(...sizes) * 1.1,
        ticks: [0.5, 0.7, 1, 1.5, 2, 3, 5, 10, 20, 50].filter(
          (tick) => tick > Math.min(...sizes) * 0.9 && tick < Math.max(...sizes) * 1.1,
        ),
        isLogarithmic: true,
      },
      of: ({ activatedParameters }) => activatedParameters.bySteps / 1e6,
      ofReference: ({ activatedParameters }) => activatedParameters / 1e6,
      rules: [],
    },
  ];
}

function curvesOf(list: ListReport, { axis, of, ofReference }: View): ChartCurve[] {
  const large = list.rows.find(({ id }) => id === 'large')?.accuracy ?? 1;
  const pointOf = (row: QualityRow): ChartPoint => ({
    x: of(row),
    y: (100 * row.accuracy) / large,
    isMarked: row.isChosen,
  });
  const references = list.references.map(({ name, points }, i) => ({
    name,
    colour: REFERENCE_COLOURS[i] ?? GREY,
    dashes: DASHES[i] ?? '1 6',
    points: points
      .filter((point) => ofReference(point) >= axis.from)
      .map((point) => ({ x: ofReference(point), y: (100 * point.accuracy) / large })),
  }));
  const series = [...algorithmSeries(list), ...BASELINE_SERIES].map(({ name, colour }) => ({
    name,
    colour,
    points: list.rows
      .filter((row) => seriesOf(row) === name)
      .map(pointOf)
      .sort((a, b) => a.x - b.x),
  }));
  const alone = list.rows
    .filter((row) => seriesOf(row) === undefined)
    .map((row) => {
      const side = row.id === 'large' ? ('left' as const) : ('right' as const);
      return { name: row.id, colour: BLACK, points: [{ ...pointOf(row), label: row.id, side }] };
    });
  return [...references, ...series, ...alone];
}

const BASELINE_SERIES: readonly Series[] = [
  { name: 'random tokens', colour: GREY },
  { name: 'ensemble', colour: BLACK },
];

/** Which curve a row lies on; none for a model alone. */
function seriesOf({ id, algorithm }: QualityRow): string | undefined {
  if (algorithm !== undefined) return algorithm;
  return BASELINE_SERIES.find(({ name }) => id.startsWith(`${name.split(' ')[0]}-`))?.name;
}

const algorithmSeries = (list: ListReport): Series[] =>
  algorithmsIn(list).map((name) => ({ name, colour: colourOfAlgorithm(name) }));

function accuracyAxis(list: ListReport): Axis {
  const large = list.rows.find(({ id }) => id === 'large')?.accuracy ?? 1;
  const lowest = Math.min(...list.rows.map(({ accuracy }) => (100 * accuracy) / large));
  const from = Math.max(0, Math.floor(lowest / 10) * 10 - 10);
  const ticks = Array.from({ length: 11 }, (_, i) => 10 * i).filter((tick) => tick >= from);
  return { label: 'accuracy, % of the large model’s', from, to: 104, ticks };
}

/** Accuracy of the first list over what it costs, in two panels. */
export function qualityPage(report: QualityReport): string {
  const [list] = report.lists;
  if (list === undefined) return svg(WIDTH, TOP, [text(20, 28, 'nothing was measured')]);
  const y = accuracyAxis(list);
  const goal = {
    axis: 'y' as const,
    at: 100 * list.goal.ofLarge,
    label: `${brief(100 * list.goal.ofLarge)} %`,
  };
  const panels = viewsOf(list).flatMap((view, column) => {
    const frame: Frame = { x: 15 + column * (PANEL.width + 15), y: TOP, ...PANEL };
    return chart(frame, {
      title: `Accuracy ${view.title}`,
      x: view.axis,
      y,
      rules: [goal, ...view.rules],
      curves: curvesOf(list, view),
    });
  });
  const size = (name: string): string => `${name} ${((report.parameters[name] ?? 0) / 1e6).toFixed(2)} M`;
  return svg(WIDTH, TOP + PANEL.height + 20, [
    text(20, 28, 'What routing keeps, and what it costs', { size: 18, bold: true }),
    text(
      20,
      48,
      `${list.problems} problems of “${list.list}”, greedy; ${['small', 'medium', 'large'].map(size).join(', ')} parameters. Ring: threshold chosen on validation.`,
    ),
    ...legend(20, 72, [...algorithmSeries(list), ...BASELINE_SERIES]),
    text(
      20,
      96,
      'Whole queries to one model: dashed grey = at random, dotted black = by prompt uncertainty, sparse grey = by an oracle that knows which problems only the large model solves.',
    ),
    ...panels,
  ]);
}
