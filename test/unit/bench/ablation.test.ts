import { expect, test } from 'vitest';
import { breakdownOf } from '../../../bench/ablation/breakdown.ts';
import { compareWithReference } from '../../../bench/ablation/identity.ts';
import { ablationPage } from '../../../bench/ablation/page.ts';
import { curvesOf, type ReportRow } from '../../../bench/ablation/report.ts';
import { percentilesOf, rowOf, withRatios } from '../../../bench/ablation/row.ts';
import { readSettings } from '../../../bench/ablation/settings.ts';
import { cellTable } from '../../../bench/ablation/table.ts';
import { emptyRun, type ModeRun } from '../../../bench/lab/mode-run.ts';
import type { ModeName } from '../../../bench/lab/modes.ts';
import type { StepRecord } from '../../../bench/lab/step-record.ts';

const stepRecord = (fields: Partial<StepRecord>): StepRecord => ({
  rows: 1,
  tokens: 1,
  startMs: 0,
  endMs: 10,
  runMs: 6,
  engineMs: 8,
  callbackMs: 2,
  publishMs: 0.5,
  gapMs: 8,
  handlerMs: 1,
  ...fields,
});

const runOf = (tokens: number, fields: Partial<ModeRun> = {}): ModeRun => {
  const run = emptyRun();
  Object.assign(run.stats, { tokens, seconds: 2, itlMs: [10, 30] });
  return { ...run, rates: [tokens / 2], ...fields };
};

test('percentiles are nearest ranks, and null without samples', () => {
  expect(percentilesOf([])).toBeNull();
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);
  expect(percentilesOf(values)).toEqual({ p50: 50, p90: 90, p99: 99, n: 100 });
  expect(percentilesOf([3])).toEqual({ p50: 3, p90: 3, p99: 3, n: 1 });
});

test('ratios go to the row above and to sequential; models that answer alone have no row above', () => {
  const modes: [ModeName, number][] = [
    ['sequential', 10],
    ['restart', 30],
    ['eager', 60],
    ['small-only', 600],
    ['large-only', 40],
  ];
  const rows = withRatios(modes.map(([mode, tokens]) => rowOf(mode, runOf(tokens), [])));
  expect(rows.map(({ ratioToAbove }) => ratioToAbove)).toEqual([null, 3, 2, null, null]);
  expect(rows.map(({ ratioToSequential }) => ratioToSequential)).toEqual([1, 3, 6, 60, 4]);
  expect(rows[1]).toMatchObject({ tokensPerSecond: 15, perUserTokensPerSecond: 50 });
  expect(withRatios([rowOf('restart', runOf(30), [])])[0]?.ratioToSequential).toBeNull();
});

test('the parts of a home step sum to 1, and a step after a pause is left out', () => {
  const home = [stepRecord({}), stepRecord({ gapMs: NaN }), stepRecord({ gapMs: 0, handlerMs: 0 })];
  const breakdown = breakdownOf(runOf(10, { steps: [home, []], counters: { route_us: 600 } }));
  expect(breakdown?.steps).toBe(2);
  expect(breakdown?.meanMs).toBe(16);
  const shares = breakdown?.shares;
  expect(Object.values(shares ?? {}).reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
  expect(shares?.modelRun).toBeCloseTo(12 / 32, 12);
  expect(shares?.sampling).toBeCloseTo(4 / 32, 12);
  expect(shares?.bus).toBeCloseTo(2 / 32, 12);
  expect(shares?.waiting).toBeCloseTo(7 / 32, 12);
  expect(shares?.routing).toBeCloseTo(0.4 / 32, 12);
  expect(breakdown?.overhead).toBeCloseTo((32 - 12 - 7) / (32 - 7), 12);
  expect(breakdownOf(runOf(10))).toBeUndefined();
});

test('answers are compared with who wrote each token; only a near decision excuses', () => {
  const reference = { ids: [1, 2, 3], models: [1, 2, 1], distances: [1, 1e-5, 1] };
  const references = new Map([0, 1, 2, 3].map((id) => [id, reference]));
  const result = compareWithReference(
    new Map([
      [0, { ids: [1, 2, 3], models: [1, 2, 1] }],
      [1, { ids: [1, 9, 9], models: [1, 2, 1] }],
      [2, { ids: [1, 2, 3], models: [1, 2, 2] }],
      [3, { ids: [], models: [] }],
    ]),
    references,
  );
  expect(result).toMatchObject({ identical: 1, excused: 1, tokens: 12, guestTokens: 4 });
  expect(result.mismatches).toEqual([
    { id: 2, position: 2 },
    { id: 3, position: 0 },
  ]);
});

const reportRow = (mode: ModeName, concurrency: number, outputTokens: number, tokens: number): ReportRow => ({
  ...rowOf(mode, runOf(tokens, { steps: [[stepRecord({})], []] }), []),
  pair: 'dummy',
  hasRandomWeights: true,
  concurrency,
  outputTokens,
});

const rows = [
  reportRow('restart', 8, 512, 30),
  reportRow('eager', 8, 512, 40),
  reportRow('restart', 8, 2048, 10),
  reportRow('eager', 8, 2048, 40),
  reportRow('eager', 16, 512, 80),
];

test('curves: what restarting keeps at each length, and speed as concurrency grows', () => {
  const { restart, speed } = curvesOf(rows);
  expect(restart.map(({ outputTokens, restartToEager }) => [outputTokens, restartToEager])).toEqual([
    [512, 0.75],
    [2048, 0.25],
  ]);
  const eager = speed.find(({ mode, outputTokens }) => mode === 'eager' && outputTokens === 512);
  expect(eager?.points.map(({ concurrency }) => concurrency)).toEqual([8, 16]);
});

test('the page is one drawing with no number missing, and says that weights are random', () => {
  const page = ablationPage({
    machine: { cpu: 'a <fast> one', cores: 2, node: '20', broker: 'embedded' },
    method: [],
    pairs: [{ pair: 'dummy', label: 'RANDOM WEIGHTS', hasRandomWeights: true, engines: [] }],
    rows,
    identity: [],
    curves: curvesOf(rows),
    seconds: 1,
  });
  expect(page).toMatch(/^<svg .*<\/svg>\n$/s);
  expect(page).not.toMatch(/NaN|undefined|Infinity/);
  expect(page).toContain('a &lt;fast&gt; one');
  expect(page).toContain('RANDOM WEIGHTS');
  expect(page).toContain('N=8, 2048');
});

test('the table shows failures', () => {
  const failed = { ...rowOf('eager', runOf(10), ['request 3: lost']), homeStep: null };
  expect(cellTable([failed])).toContain('FAILED in eager: 1, first request 3: lost');
});

test('settings: defaults, quick, and errors that name the flag', () => {
  expect(readSettings([])).toMatchObject({
    concurrency: [1, 4, 8, 16],
    outputTokens: [512, 2048],
    rounds: 3,
  });
  expect(readSettings(['--quick', '--rounds', '5'])).toMatchObject({ concurrency: [1, 8], rounds: 5 });
  expect(readSettings(['--help'])).toBeUndefined();
  expect(() => readSettings(['--concurrency', '0'])).toThrow(/--concurrency/);
  expect(() => readSettings(['--modes', 'eager,fast'])).toThrow(/--modes.*fast/);
  expect(() => readSettings(['--colour'])).toThrow(/--colour/);
});
