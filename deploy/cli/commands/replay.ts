import type { Command } from 'commander';
import { replayPage } from '../../replay/page.ts';
import { runReplay, type ReplayText } from '../../replay/run-replay.ts';

/** `tokenrail replay`: exit code 1 where the router failed on a step. */
export async function replay(command: Command): Promise<void> {
  const { json, ...text } = command.opts<ReplayText & { json?: boolean }>();
  const report = await runReplay(text);
  process.stdout.write(json === true ? `${JSON.stringify(report)}\n` : replayPage(report));
  if (report.variants.some(({ failures }) => failures > 0)) process.exitCode = 1;
}
