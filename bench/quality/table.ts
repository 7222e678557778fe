import { markdownTable, millions, percent, points } from './format.ts';
import type { Comparison, ListReport, QualityReport, QualityRow } from './report.ts';

const HEAD = [
  'router',
  'threshold',
  'accuracy',
  'of large',
  '95 % interval',
  'large’s tokens',
  'parameters/token',
  'by steps',
  'by tokens read',
  'handoffs',
  'tok/s',
];

const CHOSEN = '●';

function cellsOf(row: QualityRow): string[] {
  const { ofLarge, activatedParameters: active } = row;
  return [
    `${row.isChosen ? `${CHOSEN} ` : ''}${row.label}`,
    row.threshold === undefined ? '' : row.threshold.toPrecision(3),
    `${percent(row.accuracy)} ± ${(100 * row.standardError).toFixed(1)}`,
    percent(ofLarge.ratio),
    `${(100 * ofLarge.low).toFixed(1)}–${(100 * ofLarge.high).toFixed(1)}`,
    percent(row.share),
    millions(active.byWriter),
    millions(active.bySteps),
    millions(active.byRead),
    row.handoffsPerAnswer.toFixed(1),
    row.tokensPerSecond.toFixed(0),
  ];
}

/** A comparison in a sentence. */
export function comparisonLine({ algorithm, reference, isAbove, gap }: Comparison): string {
  if (gap === undefined) return `${algorithm} and ${reference} have no share in common`;
  const { smallest, at, standardError, mean, meanStandardError, from, to } = gap;
  const error = (value: number): string => (100 * value).toFixed(1);
  return (
    `${algorithm} above ${reference}: ${isAbove ? 'yes' : 'NO'}; smallest gap ${points(smallest)} ± ${error(standardError)} points at ` +
    `${percent(at)}, mean ${points(mean)} ± ${error(meanStandardError)}, shares ${percent(from)} to ${percent(to)}`
  );
}

/** One list for people: Markdown, which reads as plain text as well. */
export function listTable(report: ListReport): string {
  const table = [HEAD, ...report.rows.map(cellsOf)];
  const notes = [...new Set(report.rows.flatMap(({ note }) => note ?? []))].map(
    (note) => `ensemble: ${note}`,
  );
  const { goal, problems } = report;
  const reached = (names: readonly string[]): string => (names.length === 0 ? 'none' : names.join(', '));
  return [
    `${report.list}: ${problems} problems, greedy. ${CHOSEN} = chosen on validation.\n`,
    markdownTable(table),
    '',
    ...notes,
    `${percent(goal.ofLarge)} of large’s accuracy with at most ${percent(goal.maxShare)} of the tokens, at the chosen points: ${reached(goal.reachedBy)}; of the trained ones: ${reached(goal.reachedByTrained)}`,
    ...report.againstQueries.map(comparisonLine),
    ...report.againstEntropy.map(comparisonLine),
  ].join('\n');
}

/** What the validation problems said. */
export function validationTable({ validation, missing }: QualityReport): string {
  const rows = validation.points.map(({ algorithm, threshold, share, accuracy, isChosen }) => [
    `${isChosen ? `${CHOSEN} ` : ''}${algorithm}`,
    threshold.toPrecision(3),
    percent(accuracy),
    percent(share),
  ]);
  const { problems, smallAccuracy, largeAccuracy } = validation;
  return [
    ...missing.map(({ algorithm, file }) => `left out, ${algorithm}: there is no ${file}`),
    `validation: ${problems} problems, small ${percent(smallAccuracy)}, large ${percent(largeAccuracy)}`,
    markdownTable([['algorithm', 'threshold', 'accuracy', 'large’s tokens'], ...rows]),
  ].join('\n');
}
