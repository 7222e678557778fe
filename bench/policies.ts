// npm run bench:policies: what the default policy gives over the best thresholds, exactly, beside the optimum over all
// policies; and how each candidate fares where the model is wrong (simulated).
import { number, parseFlags } from './ablation/settings.ts';
import { runScript } from './lib/run-script.ts';
import { gridCases, pair, specialCases, stresses, type PolicyCase } from './policies/cases.ts';
import { drainRow, type DrainRow } from './policies/drain-row.ts';
import { exactRow, type ExactRow } from './policies/exact-row.ts';
import { stressRow, type StressRow } from './policies/stress-row.ts';

const USAGE = `What the default policy gives over the best thresholds, exactly, beside the optimum over all policies; and how
each candidate fares where the model is wrong (simulated).

  --tokens n    simulated tokens per candidate and stress (100000)
  --no-stress   the exact part alone
  --json        print one JSON object
`;

const OPTIONS = {
  tokens: { type: 'string', default: '100000' },
  'no-stress': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** With fewer, a part of a run may see no token at all. */
const MIN_TOKENS = 1000;
const MAX_TOKENS = 1e9;

interface ExactPart {
  grid: ExactRow[];
  meanGainPercent: number;
  lowestGainPercent: number;
  special: ExactRow[];
}

interface SimulatedPart {
  stress: StressRow[];
  drains: DrainRow[];
}

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

function exactPart(): ExactPart {
  const grid = gridCases.map(exactRow);
  const gains = grid.map((row) => row.gainPercent);
  return {
    grid,
    meanGainPercent: gains.reduce((sum, gain) => sum + gain, 0) / gains.length,
    lowestGainPercent: Math.min(...gains),
    special: specialCases.map(exactRow),
  };
}

function simulatedPart(tokens: number): SimulatedPart {
  const stressed: PolicyCase[] = [0.1, 0.2, 0.35].flatMap((p) =>
    [8, 16].map((concurrency) => ({ name: `N ${concurrency}, p ${p}`, system: pair(p), concurrency })),
  );
  return {
    stress: stressed.flatMap((one) => stresses.map((kind) => stressRow(one, kind, tokens))),
    drains: [0.05, 0.2, 0.35, 0.5].map((p) =>
      drainRow({ name: `N 16, p ${p}`, system: pair(p), concurrency: 16 }),
    ),
  };
}

function policies(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) {
    process.stdout.write(USAGE);
    return Promise.resolve(0);
  }
  const tokens = number('tokens', flags.tokens, MIN_TOKENS, MAX_TOKENS, true);
  const exact = exactPart();
  if (!flags.json) {
    printExact([...exact.grid, ...exact.special]);
    const { meanGainPercent, lowestGainPercent } = exact;
    const gains = `${percent(meanGainPercent)} on average, ${percent(lowestGainPercent)} at the lowest`;
    console.log(`\nGrid: gain ${gains}.`);
  }
  const simulated = flags['no-stress'] ? { stress: [], drains: [] } : simulatedPart(tokens);
  if (flags.json) console.log(JSON.stringify({ ...exact, ...simulated }));
  else if (!flags['no-stress']) {
    printStress(simulated.stress);
    printDrains(simulated.drains);
  }
  return Promise.resolve(0);
}

await runScript(policies);
