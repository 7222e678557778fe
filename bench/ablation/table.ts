import { brief } from '../plot/scale.ts';
import type { IdentityResult } from './identity.ts';
import type { AblationRow, Percentiles } from './row.ts';

const HEAD = [
  'mode',
  'tok/s',
  '(windows)',
  '× above',
  '× seq.',
  'tok/s user',
  'TTFT p50/90/99 ms',
  'ITL p50/90/99 ms',
  'rows',
  'B',
];

const percentiles = (values: Percentiles | null): string =>
  values === null ? '–' : [values.p50, values.p90, values.p99].map(brief).join('/');

const ratio = (value: number | null): string => (value === null ? '–' : value.toFixed(2));

function cellsOf(row: AblationRow): string[] {
  const { windows, meanRows, thresholds } = row;
  return [
    row.mode,
    brief(row.tokensPerSecond),
    `${brief(windows.min)}–${brief(windows.max)}`,
    ratio(row.ratioToAbove),
    ratio(row.ratioToSequential),
    brief(row.perUserTokensPerSecond),
    percentiles(row.ttftMs),
    percentiles(row.itlMs),
    meanRows.map((rows) => rows.toFixed(1)).join('/'),
    thresholds?.join(',') ?? '',
  ];
}

/** A table with columns as wide as they need to be. */
export function alignedTable(lines: readonly (readonly string[])[], indent = '  '): string {
  const widths = (lines[0] ?? []).map((_, column) =>
    Math.max(...lines.map((cells) => [...(cells[column] ?? '')].length)),
  );
  const pad = (cell: string, column: number): string => {
    const spaces = ' '.repeat(Math.max(0, (widths[column] ?? 0) - [...cell].length));
    return column === 0 ? cell + spaces : spaces + cell;
  };
  return lines.map((cells) => (indent + cells.map(pad).join('  ')).trimEnd()).join('\n');
}

/** One setting for people. */
export function cellTable(rows: readonly AblationRow[]): string {
  const lines = [alignedTable([HEAD, ...rows.map(cellsOf)])];
  const steps = rows.flatMap(({ mode, homeStep }) => {
    if (!homeStep) return [];
    const shares = Object.values(homeStep.shares).map((share) => `${(100 * share).toFixed(1)} %`);
    return [
      [mode, `${homeStep.meanMs.toFixed(2)} ms`, ...shares, `${(100 * homeStep.overhead).toFixed(1)} %`],
    ];
  });
  if (steps.length > 0) {
    const head = ['home step', 'mean', 'model', 'routing', 'sampling', 'bus', 'waiting', 'other', 'overhead'];
    lines.push(alignedTable([head, ...steps]));
  }
  for (const { mode, failures } of rows)
    if (failures.length > 0) lines.push(`  FAILED in ${mode}: ${failures.length}, first ${failures[0]}`);
  return lines.join('\n\n');
}

export function identityLine(mode: string, result: IdentityResult): string {
  const { requests, identical, excused, mismatches, tokens, guestTokens } = result;
  const verdict = mismatches.length === 0 ? 'ok' : `MISMATCHES ${JSON.stringify(mismatches)}`;
  return `    ${mode}: ${identical} of ${requests} answers equal to sequential, ${excused} within rounding, ${tokens} tokens (${guestTokens} by the guest): ${verdict}`;
}
