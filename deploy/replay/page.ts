import type { ModelDecisions, ReplayReport, RequestDecisions, VariantReport } from './report.ts';

/** Requests that the page lists; `--json` has all. */
const MAX_REQUESTS = 20;

const percent = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;

/** Rows of texts in columns, the first one to the left. */
function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    `  ${row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')}`.trimEnd(),
  );
}

function decisionRows(model: number, report: ReplayReport): string[][] {
  const of = (variant: VariantReport): ModelDecisions | undefined => variant.models[model];
  const shares = (counts: readonly number[], steps: number): string[] =>
    counts.filter((_, to) => to !== model + 1).map((count) => percent(count, steps)); // to itself = stays
  const first = report.variants[0] && of(report.variants[0]);
  return [
    [
      '',
      'stays',
      ...report.models.filter((_, i) => i !== model).map((name) => `→ ${name}`),
      'same',
      'both',
      'only served',
      'only replayed',
      'neither',
    ],
    ...(first ? [['served', ...shares(first.served, first.steps), '', '', '', '', '']] : []),
    ...report.variants.flatMap((variant) => {
      const found = of(variant);
      if (found === undefined) return [];
      const { both, onlyServed, onlyReplayed, neither, same, steps, replayed } = found;
      return [
        [
          variant.label,
          ...shares(replayed, steps),
          percent(same, steps),
          ...[both, onlyServed, onlyReplayed, neither].map(String),
        ],
      ];
    }),
  ];
}

function modelSections(report: ReplayReport): string[] {
  return report.models.flatMap((name, i) => {
    const decisions = report.variants[0]?.models[i];
    if (decisions === undefined || decisions.steps === 0) return [];
    const role = decisions.isHome ? 'the home' : 'a guest';
    return ['', `${name}, ${role}: ${decisions.steps} steps`, ...table(decisionRows(i, report))];
  });
}

function beginningLines(report: ReplayReport): string[] {
  const isAway = (counts: readonly number[]): boolean => counts.slice(1).some((count) => count > 0);
  const shown = report.variants.filter(
    ({ beginnings }) => isAway(beginnings.served) || isAway(beginnings.replayed),
  );
  if (shown.length === 0) return [];
  const rows = shown.map(({ label, beginnings: { served, replayed, same } }) => [
    label,
    served.join(' / '),
    replayed.join(' / '),
    String(same),
  ]);
  const heads = ['', 'served', 'replayed', 'same'];
  return ['', `requests that begin at the home / ${report.models.join(' / ')}`, ...table([heads, ...rows])];
}

function divergenceLines(report: ReplayReport): string[] {
  const known = report.variants[0]?.divergence;
  if (known === undefined || known.known === 0) return [];
  const rows = report.variants.map(({ label, divergence }) => [
    label,
    String(divergence.sent),
    String(divergence.sentDiffering),
    percent(divergence.sentDiffering, divergence.sent),
    percent(divergence.sentDiffering, divergence.differing),
  ]);
  return [
    '',
    `Where the home discarded a token and a guest wrote one: ${known.known} positions, the tokens differ at ${known.differing}`,
    ...table([['', 'sent', 'differing', 'precision', 'recall'], ...rows]),
    '  Of positions that were not handed off it is not known whether the models differ.',
  ];
}

function requestLines({ perRequest, variants }: ReplayReport): string[] {
  const rows = perRequest
    .slice(0, MAX_REQUESTS)
    .map(({ rid, steps, sentServed, sentReplayed }: RequestDecisions) => [
      rid,
      String(steps),
      percent(sentServed, steps),
      ...sentReplayed.map((sent) => percent(sent, steps)),
    ]);
  if (rows.length === 0) return [];
  const rest = perRequest.length - rows.length;
  return [
    '',
    'sent away by the home, per request',
    ...table([['', 'steps', 'served', ...variants.map(({ label }) => label)], ...rows]),
    ...(rest > 0 ? [`  … and ${rest} more, see --json`] : []),
  ];
}

function notices(report: ReplayReport): string[] {
  const { labels, isCut, missed, incomplete, unfinished, variants } = report;
  return [
    ...labels.map((label) => `NOTE: ${label}.`),
    ...(isCut ? ['NOTE: the recording was cut short; what is whole is read.'] : []),
    ...(missed !== null && missed > 0 ? [`NOTE: ${missed} records were lost while recording.`] : []),
    ...(incomplete > 0
      ? [`NOTE: ${incomplete} steps are left out: a part of their sequence was not recorded.`]
      : []),
    ...(unfinished > 0 ? [`NOTE: the end of ${unfinished} requests was not recorded.`] : []),
    ...variants.flatMap(({ label, failures, failure }) =>
      failures === 0 ? [] : [`FAILED on ${failures} steps (${label}): ${failure ?? ''}`],
    ),
  ];
}

/** The report for people. */
export function replayPage(report: ReplayReport): string {
  const served = Object.entries(report.servedBy).map(([router, steps]) => `${router} (${steps} steps)`);
  const lines = [
    `${report.file}: ${report.requests} requests, ${report.steps} steps, served by ${served.join(', ') || 'nobody'}`,
    `replayed: ${report.router}`,
    ...notices(report),
    ...modelSections(report),
    ...beginningLines(report),
    ...divergenceLines(report),
    ...requestLines(report),
    '',
    report.limit,
  ];
  return `${lines.join('\n')}\n`;
}
