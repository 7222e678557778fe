// tokenrail bench ablation (npm run bench:ablation): all baselines and modes on one page.
import { writeFileSync } from 'node:fs';
import { ensureWritable } from '../deploy/output-file.ts';
import { ablationPage } from './ablation/page.ts';
import { METHOD, runAblation } from './ablation/run.ts';
import { readSettings, USAGE } from './ablation/settings.ts';

/** Runs the ablation of a command line. @returns the exit code: 1 if a mode failed or wrote other tokens */
export async function ablation(args: readonly string[]): Promise<number> {
  const settings = readSettings(args);
  if (settings === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  ensureWritable('--svg', settings.svg);
  // With --json the lines for people go to standard error: a run of minutes should show that it lives.
  const stream = settings.json ? process.stderr : process.stdout;
  const log = (line: string): void => void stream.write(`${line}\n`);
  for (const sentence of METHOD) log(sentence);
  const report = await runAblation(settings, log);
  log(`\n${report.seconds.toFixed(0)} s`);
  if (settings.svg !== undefined) writeFileSync(settings.svg, ablationPage(report));
  if (settings.json) process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  const isFine =
    report.rows.every(({ failures }) => failures.length === 0) &&
    report.identity.every(({ mismatches }) => mismatches.length === 0);
  return isFine ? 0 : 1;
}
