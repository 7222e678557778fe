import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { ensureWritable } from '../../output-file.ts';
import { parseSimulate, type SimulateText } from '../../simulate/options.ts';
import { progressReporter } from '../../simulate/progress.ts';
import { reportText } from '../../simulate/report.ts';
import { runSimulate } from '../../simulate/run.ts';
import { TimelineRecorder } from '../../simulate/timeline-recorder.ts';
import { timelineSvg } from '../../simulate/timeline-svg.ts';

/** `tokenrail simulate`: exit code 1 where a token differs from the sequential loop. */
export async function simulate(command: Command): Promise<void> {
  const text = command.opts<SimulateText & { json?: boolean; timeline?: string }>();
  const plan = parseSimulate(text);
  const { timeline } = text;
  const recorder = timeline === undefined ? undefined : new TimelineRecorder(plan.options.models);
  ensureWritable('--timeline', timeline);
  const report = await runSimulate(plan, {
    onProgress: progressReporter(
      () => performance.now(),
      (line) => process.stderr.write(line),
    ),
    ...(recorder ? { onStep: (record) => recorder.add(record) } : {}),
  });
  if (recorder && timeline !== undefined) writeFileSync(timeline, timelineSvg(recorder.timeline(), report));
  process.stdout.write(text.json === true ? `${JSON.stringify(report)}\n` : reportText(report));
  if (report.mismatches > 0) process.exitCode = 1;
}
