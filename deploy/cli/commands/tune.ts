import type { Command } from 'commander';
import { SystemClock } from '../../../core/system-clock.ts';
import { TooManyStatesError, type ChainSpec } from '../../../scheduling/throughput-model.ts';
import { flagError, numberFlag, parseSystem } from '../../system-options.ts';
import { tunePage } from '../../tune/page.ts';
import { tune as predict } from '../../tune/tune.ts';

interface TuneFlags {
  stepMs?: string;
  p?: string;
  routing?: string;
  concurrency: string;
  overlapFactor: string;
  quantumMs: string;
  json?: boolean;
}

function specOf(flags: TuneFlags): ChainSpec & { overlapFactor: number } {
  return {
    ...parseSystem(flags),
    concurrency: numberFlag('--concurrency', flags.concurrency, { min: 1, isInteger: true }),
    overlapFactor: numberFlag('--overlap-factor', flags.overlapFactor, {
      min: 0,
      isMinExcluded: true,
      max: 1,
    }),
    quantumMs: numberFlag('--quantum-ms', flags.quantumMs, { min: 0, isMinExcluded: true }),
  };
}

/** `tokenrail tune`: what the throughput model predicts for a system. */
export async function tune(command: Command): Promise<void> {
  const flags = command.opts<TuneFlags>();
  const spec = specOf(flags);
  const clock = new SystemClock();
  try {
    const result = predict(spec, () => clock.nowMs());
    process.stdout.write(flags.json ? `${JSON.stringify(result, null, 2)}\n` : tunePage(spec, result));
  } catch (error) {
    if (!(error instanceof TooManyStatesError)) throw error;
    throw flagError('--quantum-ms', `${error.message}, or fewer requests`, error);
  }
  return Promise.resolve();
}
