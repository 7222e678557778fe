/** A share of 1 in percent, one digit. */
export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** A difference of shares in points, with its sign. */
export const points = (difference: number): string =>
  `${difference < 0 ? '−' : '+'}${(100 * Math.abs(difference)).toFixed(1)}`;

/** Parameters in millions. */
export const millions = (parameters: number): string => `${(parameters / 1e6).toFixed(2)} M`;

/** A Markdown table that reads as plain text as well: columns as wide as they need to be, all but the first to the right. */
export function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, i) => Math.max(3, ...[head, ...rows].map((cells) => (cells[i] ?? '').length)));
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((cell, i) =>
      i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
    );
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
