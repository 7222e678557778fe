import { CommanderError } from 'commander';
import { toTokenrailError } from '../../core/errors.ts';
import { createProgram } from './program.ts';

/** Exit code for a wrong command line or configuration, as shells expect it. */
const USAGE_ERROR = 2;

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
    const error = toTokenrailError(thrown);
    process.stderr.write(`tokenrail: ${error.code}: ${error.message}\n`);
    if (error.code === 'internal') process.stderr.write(`${error.stack ?? ''}\n`);
    return error.code === 'config_invalid' ? USAGE_ERROR : 1;
  }
}
