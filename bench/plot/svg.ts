import { escape, number as round, rect as bar } from '../../deploy/simulate/svg.ts';

/** Colours of series, distinguishable also without colour vision (Okabe and Ito's palette, and two greys). */
export const COLOURS = [
  '#999999',
  '#E69F00',
  '#56B4E9',
  '#009E73',
  '#0072B2',
  '#D55E00',
  '#CC79A7',
  '#333333',
] as const;

export const colourOf = (index: number): string => COLOURS[index % COLOURS.length] ?? '#000000';

export interface TextOptions {
  size?: number;
  anchor?: 'start' | 'middle' | 'end';
  bold?: boolean;
  colour?: string;
}

export function text(x: number, y: number, content: string, options: TextOptions = {}): string {
  const { size = 11, anchor = 'start', bold = false, colour = '#222222' } = options;
  const weight = bold ? ' font-weight="bold"' : '';
  return `<text x="${round(x)}" y="${round(y)}" font-size="${size}" text-anchor="${anchor}" fill="${colour}"${weight}>${escape(content)}</text>`;
}

/** A bar is never less than nothing wide or high. */
export const rect = (x: number, y: number, width: number, height: number, fill: string): string =>
  bar(x, y, Math.max(0, width), Math.max(0, height), fill);

export const line = (x1: number, y1: number, x2: number, y2: number, colour = '#dddddd'): string =>
  `<line x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}" stroke="${colour}"/>`;

/** @param dashes lengths of dashes and gaps, such as `6 4`; none: a full line */
export const polyline = (
  points: readonly (readonly [number, number])[],
  colour: string,
  dashes?: string,
): string => {
  const dashed = dashes === undefined ? '' : ` stroke-dasharray="${dashes}"`;
  const path = points.map(([x, y]) => `${round(x)},${round(y)}`).join(' ');
  return `<polyline fill="none" stroke="${colour}" stroke-width="2"${dashed} points="${path}"/>`;
};

export const dot = (x: number, y: number, colour: string): string =>
  `<circle cx="${round(x)}" cy="${round(y)}" r="3.5" fill="${colour}"/>`;

/** A point that stands out: a circle with a ring around it. */
export const ring = (x: number, y: number, colour: string): string =>
  `<circle cx="${round(x)}" cy="${round(y)}" r="8" fill="none" stroke="${colour}" stroke-width="2.5"/>`;

/** A whole drawing. */
export function svg(width: number, height: number, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif">`,
    rect(0, 0, width, height, '#ffffff'),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}
