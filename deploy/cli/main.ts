import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { reportFailure, USAGE_ERROR } from './report-failure.ts';

/** Runs one command line and returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    const program = createProgram();
    if (args.length === 0) {
      program.outputHelp();
      return 0;
    }
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE_ERROR;
    return reportFailure(thrown);
  }
}
