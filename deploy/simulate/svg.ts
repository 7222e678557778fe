/** Distinguishable with any colour vision (Okabe and Ito 2008), the darker ones first. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#56b4e9', '#e69f00'] as const;

export const INK = '#1c2530';
export const PAPER = '#ffffff';

/** The colour of a model, by its id from 1. */
export function colourOf(model: number): string {
  return COLOURS[(model - 1) % COLOURS.length] ?? INK;
}

/** A coordinate, to a hundredth. */
export const number = (value: number): string => String(Math.round(value * 100) / 100);

/** Text as XML wants it. */
export const escape = (content: string): string =>
  content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export function rect(
  x: number,
  y: number,
  width: number,
  height: number,
  fill: string,
  opacity = 1,
  title?: string,
): string {
  const at = `x="${number(x)}" y="${number(y)}" width="${number(width)}" height="${number(height)}"`;
  const faint = opacity === 1 ? '' : ` fill-opacity="${opacity}"`;
  const inner = title === undefined ? '/>' : `><title>${escape(title)}</title></rect>`;
  return `<rect ${at} fill="${fill}"${faint}${inner}`;
}

export function line(x1: number, y1: number, x2: number, y2: number, stroke: string, width: number): string {
  const ends = `x1="${number(x1)}" y1="${number(y1)}" x2="${number(x2)}" y2="${number(y2)}"`;
  return `<line ${ends} stroke="${stroke}" stroke-width="${width}"/>`;
}

export interface TextStyle {
  size: number;
  anchor?: 'start' | 'middle' | 'end';
  weight?: number;
  fill?: string;
}

export function text(x: number, y: number, content: string, style: TextStyle): string {
  const { size, anchor = 'start', weight = 400, fill = INK } = style;
  const at = `x="${number(x)}" y="${number(y)}"`;
  const look = `font-size="${size}" text-anchor="${anchor}" font-weight="${weight}" fill="${fill}"`;
  return `<text ${at} ${look}>${escape(content)}</text>`;
}
