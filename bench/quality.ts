// npm run bench:quality: accuracy of small alone, large alone and R-Stitch at three thresholds, with the large model's share.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { loadProblems, type ProblemList } from './lib/problems.ts';
import { startSystem } from './lib/system.ts';
import { evaluate, type QualityRow } from './quality/evaluate.ts';

const { values } = parseArgs({
  options: {
    problems: { type: 'string', default: '400' },
    list: { type: 'string', default: 'test' },
    thresholds: { type: 'string', default: '0.01,0.02,0.04' },
    concurrency: { type: 'string', default: '16' },
    json: { type: 'boolean', default: false },
  },
});

const problems = loadProblems(values.list as ProblemList, Number(values.problems));
const thresholds = values.thresholds.split(',').map(Number);
const routers = [
  { id: 'always-small', use: 'always-small' },
  ...thresholds.map((threshold) => ({
    id: `r-stitch-${threshold}`,
    use: 'r-stitch',
    options: { threshold },
  })),
  { id: 'always-large', use: 'always-large' },
];
const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

const folder = mkdtempSync(join(tmpdir(), 'tokenrail-quality-'));
const config = join(folder, 'config.yaml');
writeFileSync(config, stringify({ routers, router: 'always-small' }));
const system = await startSystem(['--config', config, '--log-level', 'warn']);
const rows: QualityRow[] = [];
try {
  if (!values.json) {
    console.log(
      `${problems.length} problems of "${values.list}", greedy, concurrency ${values.concurrency}\n`,
    );
    console.log(
      '| router | accuracy | large model’s share | tokens per answer | handoffs per answer | tokens/s |',
    );
    console.log('|---|---|---|---|---|---|');
  }
  for (const { id, options } of routers as { id: string; options?: { threshold: number } }[]) {
    const row = await evaluate(system.url, id, problems, Number(values.concurrency));
    rows.push({ ...row, ...(options ?? {}) });
    if (values.json) continue;
    const cells = [id, percent(row.accuracy), percent(row.llmRatio), row.tokensPerAnswer.toFixed(0)];
    console.log(
      `| ${[...cells, row.handoffsPerAnswer.toFixed(1), row.tokensPerSecond.toFixed(0)].join(' | ')} |`,
    );
  }
} finally {
  await system.stop();
  rmSync(folder, { recursive: true });
}
if (values.json) console.log(JSON.stringify(rows, null, 2));
