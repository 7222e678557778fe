import { brief, ticksTo } from './scale.ts';
import { colourOf, dot, line, polyline, rect, text } from './svg.ts';

/** Where a panel lies on the page. */
export interface Frame {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Series {
  name: string;
  /** Index of its colour. */
  colour: number;
}

const MARGIN = { left: 52, right: 12, top: 30, bottom: 38 };

/** The part of a frame that the data has. */
export const inner = ({ x, y, width, height }: Frame): Frame => ({
  x: x + MARGIN.left,
  y: y + MARGIN.top,
  width: width - MARGIN.left - MARGIN.right,
  height: height - MARGIN.top - MARGIN.bottom,
});

const topOf = (ticks: readonly number[]): number => ticks.at(-1) ?? 1;

function axes(frame: Frame, title: string, xLabel: string, ticks: readonly number[]): string[] {
  const area = inner(frame);
  const parts = [
    text(frame.x + MARGIN.left, frame.y + 16, title, { size: 12, bold: true }),
    text(area.x + area.width / 2, area.y + area.height + 32, xLabel, { anchor: 'middle' }),
  ];
  for (const tick of ticks) {
    const y = area.y + area.height * (1 - tick / topOf(ticks));
    parts.push(
      line(area.x, y, area.x + area.width, y),
      text(area.x - 6, y + 4, brief(tick), { anchor: 'end', size: 10 }),
    );
  }
  return parts;
}

export interface BarGroup {
  label: string;
  /** One per series; undefined leaves a gap. */
  values: readonly (number | undefined)[];
}

/** Bars side by side, one group per label. */
export function groupedBars(
  frame: Frame,
  labels: { title: string; x: string },
  series: readonly Series[],
  groups: readonly BarGroup[],
): string[] {
  const ticks = ticksTo(Math.max(0, ...groups.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const area = inner(frame);
  const parts = axes(frame, labels.title, labels.x, ticks);
  const slot = area.width / Math.max(1, groups.length);
  const bar = (slot * 0.86) / Math.max(1, series.length);
  groups.forEach(({ label, values }, g) => {
    const left = area.x + slot * (g + 0.07);
    values.forEach((value, i) => {
      if (value === undefined) return;
      const height = (area.height * value) / topOf(ticks);
      const colour = colourOf(series[i]?.colour ?? i);
      parts.push(rect(left + i * bar, area.y + area.height - height, bar * 0.92, height, colour));
    });
    parts.push(text(left + slot * 0.43, area.y + area.height + 15, label, { anchor: 'middle', size: 10 }));
  });
  return parts;
}

/** Parts on top of each other, one bar per group; a group's values are shares of 1, its label may have two lines. */
export function stackedBars(
  frame: Frame,
  labels: { title: string; x: string },
  series: readonly Series[],
  groups: readonly BarGroup[],
): string[] {
  const area = inner(frame);
  const parts = axes(frame, labels.title, labels.x, [0, 0.25, 0.5, 0.75, 1]);
  const slot = area.width / Math.max(1, groups.length);
  groups.forEach(({ label, values }, g) => {
    let y = area.y + area.height;
    values.forEach((value, i) => {
      const height = area.height * (value ?? 0);
      y -= height;
      parts.push(rect(area.x + slot * (g + 0.15), y, slot * 0.7, height, colourOf(series[i]?.colour ?? i)));
    });
    label.split('\n').forEach((part, i) => {
      const y = area.y + area.height + 13 + 11 * i;
      parts.push(text(area.x + slot * (g + 0.5), y, part, { anchor: 'middle', size: 9 }));
    });
  });
  return parts;
}

export interface Curve extends Series {
  points: readonly { x: number; y: number; label?: string }[];
}

/** Lines with dots; both axes begin at 0. */
export function curves(frame: Frame, labels: { title: string; x: string }, all: readonly Curve[]): string[] {
  const points = all.flatMap((curve) => curve.points);
  const yTicks = ticksTo(Math.max(0, ...points.map(({ y }) => y)));
  const xTicks = ticksTo(Math.max(0, ...points.map(({ x }) => x)));
  const area = inner(frame);
  const at = ({ x, y }: { x: number; y: number }): [number, number] => [
    area.x + (area.width * x) / topOf(xTicks),
    area.y + area.height * (1 - y / topOf(yTicks)),
  ];
  const parts = axes(frame, labels.title, labels.x, yTicks);
  for (const tick of xTicks) {
    const [x] = at({ x: tick, y: 0 });
    parts.push(text(x, area.y + area.height + 15, brief(tick), { anchor: 'middle', size: 10 }));
  }
  for (const { colour, points: own } of all) {
    parts.push(polyline(own.map(at), colourOf(colour)));
    for (const point of own) {
      const [x, y] = at(point);
      parts.push(dot(x, y, colourOf(colour)));
      if (point.label !== undefined)
        parts.push(text(x + 5, y - 5, point.label, { size: 9, colour: colourOf(colour) }));
    }
  }
  return parts;
}

/** Names with their colours in one line. */
export function legend(x: number, y: number, series: readonly Series[]): string[] {
  let left = x;
  return series.flatMap(({ name, colour }) => {
    const parts = [rect(left, y - 9, 10, 10, colourOf(colour)), text(left + 14, y, name)];
    left += 28 + name.length * 6.4;
    return parts;
  });
}
