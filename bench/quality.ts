// tokenrail bench quality (npm run bench:quality): accuracy against the large model's share of the tokens.
import { writeFileSync } from 'node:fs';
import { ensureWritable } from '../deploy/output-file.ts';
import { qualityPage } from './quality/page.ts';
import { runQuality } from './quality/run.ts';
import { readSettings, USAGE } from './quality/settings.ts';
import { listTable, validationTable } from './quality/table.ts';
import { isGoalMissed } from './quality/verdict.ts';

/** Runs the evaluation of a command line. @returns the exit code: 1 if the goal is missed on a whole list */
export async function quality(args: readonly string[]): Promise<number> {
  const settings = readSettings(args);
  if (settings === undefined) {
    process.stdout.write(USAGE);
    return 0;
  }
  ensureWritable('--svg', settings.svg);
  // Progress goes to standard error: what is printed in the end is the result.
  const log = (line: string): void => void process.stderr.write(`${line}\n`);
  const report = await runQuality(settings, log);
  if (settings.svg !== undefined) writeFileSync(settings.svg, qualityPage(report));
  const text = [validationTable(report), ...report.lists.map(listTable), `${report.seconds.toFixed(0)} s`];
  process.stdout.write(`${settings.json ? JSON.stringify(report, null, 2) : text.join('\n\n')}\n`);
  return report.lists.some(isGoalMissed) ? 1 : 0;
}
