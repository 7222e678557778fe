import { reportFailure } from '../../deploy/cli/report-failure.ts';

/** Runs a measurement that is a script and no command of `tokenrail bench`; wrong flags end as they do there. */
export async function runScript(run: (args: readonly string[]) => Promise<number>): Promise<void> {
  try {
    process.exitCode = await run(process.argv.slice(2));
  } catch (thrown) {
    process.exitCode = reportFailure(thrown);
  }
}
