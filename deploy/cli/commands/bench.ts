import type { Command } from 'commander';
import { TokenrailError } from '../../../core/errors.ts';
import { suggestion } from '../../config/names.ts';

type Run = (args: readonly string[]) => Promise<number>;

/** Loaded when asked for: help stays quick, and nothing of `bench/` is needed to serve. */
const BENCHMARKS: Readonly<Record<string, Run>> = {
  ablation: async (args) => (await import('../../../bench/ablation.ts')).ablation(args),
  sweep: async (args) => (await import('../../../bench/sweep.ts')).sweep(args),
  realtime: async (args) => (await import('../../../bench/realtime.ts')).realtime(args),
  quality: async (args) => (await import('../../../bench/quality.ts')).quality(args),
  identity: async (args) => (await import('../../../bench/identity.ts')).identity(args),
  handoff: async (args) => (await import('../../../bench/handoff.ts')).handoff(args),
  engine: async (args) => (await import('../../../bench/engine.ts')).engine(args),
  heads: async (args) => (await import('../../../bench/heads.ts')).heads(args),
};

export const BENCH_HELP = `Which benchmark, and its own flags; "tokenrail bench ablation --help" explains them:
  ablation  all baselines and modes on one page: where the speed comes from
  sweep     thresholds by measurement beside what the runtime chooses
  realtime  what the runtime costs, against the same system in virtual time
  quality   accuracy against the large model's share: models alone, whole queries, every algorithm
  identity  answers under load, token by token, against a plain loop
  handoff   latency and rate of handoffs over both brokers
  engine    what the ragged engine costs
  heads     what the networks of trained routers add to a step`;

/** `tokenrail bench NAME …`. @throws TokenrailError `config_invalid` for an unknown benchmark or flag */
export async function bench(command: Command): Promise<void> {
  const [name, ...args] = command.args;
  const known = Object.keys(BENCHMARKS);
  if (name === undefined || name === '--help' || name === '-h') {
    process.stdout.write(`Usage: tokenrail bench <${known.join('|')}> [flags]\n\n${BENCH_HELP}\n`);
    return;
  }
  const run = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
  if (run === undefined) {
    const text = `bench: "${name}" is not one of ${known.join(', ')}${suggestion(name, known)}`;
    throw new TokenrailError('config_invalid', text, { param: 'bench' });
  }
  process.exitCode = await run(args);
}
