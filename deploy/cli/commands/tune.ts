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

/** Larger systems have chains that take hours. */
const MAX_CONCURRENCY = 256;
/** Ticks of the longest step: each is a state and more. */
const MAX_TICKS = 100_000;

function specOf(flags: TuneFlags): ChainSpec & { overlapFactor: number } {
  const system = parseSystem(flags);
  const [shortestMs, longestMs] = [Math.min(...system.stepMs), Math.max(...system.stepMs)];
  const leastMs = longestMs / MAX_TICKS;
  if (shortestMs < leastMs)
    throw flagError('--step-ms', `the longest step may take ${MAX_TICKS} times as long as the shortest`);
  const quantumMs = numberFlag('--quantum-ms', flags.quantumMs, {
    min: Number(leastMs.toPrecision(2)),
    max: shortestMs,
  });
  return {
    ...system,
    concurrency: numberFlag('--concurrency', flags.concurrency, {
      min: 1,
      max: MAX_CONCURRENCY,
      isInteger: true,
    }),
    overlapFactor: numberFlag('--overlap-factor', flags.overlapFactor, {
      min: 0,
      isMinExcluded: true,
      max: 1,
    }),
    quantumMs,
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
