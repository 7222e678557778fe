// npm run bench:policies: what the default policy gives over the best thresholds, exactly, beside the optimum over all
// policies; and how each candidate fares where the model is wrong (simulated).
import { parseArgs } from 'node:util';
import { gridCases, pair, specialCases, stresses, type PolicyCase } from './policies/cases.ts';
import { drainRow, type DrainRow } from './policies/drain-row.ts';
import { exactRow, type ExactRow } from './policies/exact-row.ts';
import { stressRow, type StressRow } from './policies/stress-row.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    tokens: { type: 'string', default: '100000' },
    'no-stress': { type: 'boolean', default: false },
  },
});

const percent = (value: number | undefined): string =>
  value === undefined ? '–' : `${value >= 0 ? '+' : '−'}${Math.abs(value).toFixed(2)} %`;

function printExact(rows: readonly ExactRow[]): void {
  console.log('| case | eager | best thresholds | tokens/s | default | tokens/s | gain | optimum |');
  console.log('|---|---|---|---|---|---|---|---|');
  for (const row of rows) {
    const cells = [row.name, row.eagerTokensPerSecond.toFixed(2), row.thresholds.join(', ')];
    cells.push(row.thresholdsTokensPerSecond.toFixed(2), row.default, row.defaultTokensPerSecond.toFixed(2));
    console.log(`| ${[...cells, percent(row.gainPercent), percent(row.optimumGainPercent)].join(' | ')} |`);
  }
}

function printStress(rows: readonly StressRow[]): void {
  console.log(
    '\nSimulated: gain over the best thresholds of the candidates, planned for geometric run lengths.\n',
  );
  console.log('| case | stress | thresholds, tokens/s | candidates |');
  console.log('|---|---|---|---|');
  for (const row of rows) {
    const gains = Object.entries(row.gainPercent).map(([name, gain]) => `${name} ${percent(gain)}`);
    const base = `${row.thresholdsTokensPerSecond.toFixed(1)} ± ${row.standardError.toFixed(1)}`;
    console.log(`| ${row.case} | ${row.stress} | ${base} | ${gains.join(', ')} |`);
  }
}

function printDrains(rows: readonly DrainRow[]): void {
  console.log('\nSimulated drains: gain over the best thresholds for each number of requests alive.\n');
  console.log('| case | thresholds, tokens/s | following the plan | look-ahead |');
  console.log('|---|---|---|---|');
  for (const row of rows) {
    const gains = [percent(row.planGainPercent), percent(row.lookAheadGainPercent)];
    console.log(`| ${[row.case, row.thresholdsTokensPerSecond.toFixed(1), ...gains].join(' | ')} |`);
  }
}

const grid = gridCases.map(exactRow);
const meanGainPercent = grid.reduce((sum, row) => sum + row.gainPercent, 0) / grid.length;
const lowestGainPercent = Math.min(...grid.map((row) => row.gainPercent));
const special = specialCases.map(exactRow);
if (!values.json) {
  printExact([...grid, ...special]);
  console.log(
    `\nGrid: gain ${percent(meanGainPercent)} on average, ${percent(lowestGainPercent)} at the lowest.`,
  );
}
const stressed: PolicyCase[] = [0.1, 0.2, 0.35].flatMap((p) =>
  [8, 16].map((concurrency) => ({ name: `N ${concurrency}, p ${p}`, system: pair(p), concurrency })),
);
const stress = values['no-stress']
  ? []
  : stressed.flatMap((one) => stresses.map((kind) => stressRow(one, kind, Number(values.tokens))));
const drains = values['no-stress']
  ? []
  : [0.05, 0.2, 0.35, 0.5].map((p) => drainRow({ name: `N 16, p ${p}`, system: pair(p), concurrency: 16 }));
if (values.json)
  console.log(JSON.stringify({ grid, meanGainPercent, lowestGainPercent, special, stress, drains }));
else if (stress.length > 0) {
  printStress(stress);
  printDrains(drains);
}
