import { inner, type Frame, type Series } from './panel.ts';
import { brief } from './scale.ts';
import { colourOf, dot, line, polyline, ring, text } from './svg.ts';

/** An axis with its ends and the values that have a label; a logarithmic one begins above 0. */
export interface Axis {
  label: string;
  from: number;
  to: number;
  ticks: readonly number[];
  isLogarithmic?: boolean;
}

export interface ChartPoint {
  x: number;
  y: number;
  /** Drawn with a ring. */
  isMarked?: boolean;
  label?: string;
  /** Where the label stands; right of the point by default. */
  side?: 'right' | 'left';
}

export interface ChartCurve extends Series {
  points: readonly ChartPoint[];
  /** Lengths of dashes and gaps; none: a full line with a dot at each point. */
  dashes?: string;
}

/** A line that data is compared with. */
export interface Rule {
  axis: 'x' | 'y';
  at: number;
  label: string;
}

export interface Chart {
  title: string;
  x: Axis;
  y: Axis;
  rules: readonly Rule[];
  curves: readonly ChartCurve[];
}

const RULE_COLOUR = '#bb5555';

/** Where a value lies between the ends of an axis, as a part of its length; within the ends. */
export function partOf({ from, to, isLogarithmic = false }: Axis, value: number): number {
  const scaled = isLogarithmic ? Math.log : (plain: number): number => plain;
  const part =
    (scaled(Math.max(value, isLogarithmic ? from : -Infinity)) - scaled(from)) / (scaled(to) - scaled(from));
  return Math.min(1, Math.max(0, part));
}

/** A chart with any axes; what lies beyond them is drawn at their ends. */
export function chart(frame: Frame, { title, x, y, rules, curves }: Chart): string[] {
  const area = inner(frame);
  const at = (px: number, py: number): [number, number] => [
    area.x + area.width * partOf(x, px),
    area.y + area.height * (1 - partOf(y, py)),
  ];
  return [
    text(area.x, frame.y + 8, title, { size: 12, bold: true }),
    text(area.x, frame.y + 24, y.label, { size: 10 }),
    text(area.x + area.width / 2, area.y + area.height + 32, x.label, { anchor: 'middle' }),
    ...y.ticks.flatMap((tick) => {
      const [left, top] = at(x.from, tick);
      return [
        line(left, top, left + area.width, top),
        text(left - 6, top + 4, brief(tick), { anchor: 'end', size: 10 }),
      ];
    }),
    ...x.ticks.flatMap((tick) => {
      const [left, bottom] = at(tick, y.from);
      return [
        line(left, bottom, left, area.y, '#eeeeee'),
        text(left, bottom + 15, brief(tick), { anchor: 'middle', size: 10 }),
      ];
    }),
    ...rules.flatMap((rule) => ruleParts(rule, at, { x, y })),
    ...curves.flatMap((curve) => curveParts(curve, at)),
  ];
}

type At = (x: number, y: number) => [number, number];

function ruleParts({ axis, at: value, label }: Rule, at: At, { x, y }: { x: Axis; y: Axis }): string[] {
  const from = axis === 'x' ? at(value, y.from) : at(x.from, value);
  const to = axis === 'x' ? at(value, y.to) : at(x.to, value);
  const [left, top] = axis === 'x' ? [to[0] + 4, from[1] - 6] : [from[0] + 4, from[1] - 4];
  return [polylineOf([from, to]), text(left, top, label, { size: 9, colour: RULE_COLOUR })];
}

const polylineOf = ([[x1, y1], [x2, y2]]: readonly [
  readonly [number, number],
  readonly [number, number],
]): string => line(x1, y1, x2, y2, RULE_COLOUR);

function curveParts({ colour: index, points, dashes }: ChartCurve, at: At): string[] {
  const colour = colourOf(index);
  const parts =
    points.length > 1
      ? [
          polyline(
            points.map(({ x, y }) => at(x, y)),
            colour,
            dashes,
          ),
        ]
      : [];
  for (const { x, y, isMarked = false, label, side = 'right' } of points) {
    const [left, top] = at(x, y);
    if (dashes === undefined) parts.push(dot(left, top, colour));
    if (isMarked) parts.push(ring(left, top, colour));
    if (label !== undefined) parts.push(labelAt(left, top, label, side, colour));
  }
  return parts;
}

function labelAt(x: number, y: number, label: string, side: 'right' | 'left', colour: string): string {
  if (side === 'left') return text(x - 8, y + 4, label, { size: 10, colour, anchor: 'end' });
  return text(x + 7, y + 4, label, { size: 10, colour });
}
