import { TokenrailError } from '../../core/errors.ts';
import { loadConfig } from '../../deploy/config/load.ts';
import { number, oneOf, parseFlags } from '../ablation/settings.ts';
import { ALGORITHMS, hasTrainedHeads, type Algorithm, type Heads } from './algorithms.ts';

export const USAGE = `Is what the running system writes the same, token for token and writer for writer, as the answer of a plain
loop: one request at a time, no batches, no messages? Without --router or --all-algorithms: R-Stitch over both brokers,
1 and 2 replicas, greedy and sampled, at concurrency 1, 8 and 32.

  --router NAME     one algorithm with three models, at concurrency 8 and 32: ${ALGORITHMS.join(', ')}
  --all-algorithms  all of them
  --heads KIND      trained or random networks of these (trained where models/routers has them, else random)
  --problems n      problems (64)
  --policy P        start policy of the run without --router or --all-algorithms (eager)
  --json            print one JSON array

Exit code 1 if an answer differs where no decision was within 1e-4.
`;

export interface IdentitySettings {
  /** None: R-Stitch in all settings. */
  algorithms: readonly Algorithm[];
  heads: Heads;
  policy: string;
  numProblems: number;
  json: boolean;
}

const OPTIONS = {
  router: { type: 'string' },
  'all-algorithms': { type: 'boolean', default: false },
  heads: { type: 'string' },
  policy: { type: 'string' },
  problems: { type: 'string', default: '64' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const MAX_PROBLEMS = 400;

function refuse(flag: string, why: string): never {
  throw new TokenrailError('config_invalid', `--${flag}: ${why}`, { param: `--${flag}` });
}

/** Undefined: help was asked for. @throws TokenrailError `config_invalid` naming the flag */
export function readSettings(args: readonly string[]): IdentitySettings | undefined {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) return undefined;
  const { router, heads, policy } = flags;
  const isAll = flags['all-algorithms'];
  if (isAll && router !== undefined) refuse('router', 'excludes --all-algorithms');
  const isOfAlgorithms = isAll || router !== undefined;
  if (isOfAlgorithms && policy !== undefined)
    refuse('policy', 'goes with neither --router nor --all-algorithms, whose models start at once');
  if (!isOfAlgorithms && heads !== undefined) refuse('heads', 'goes with --router or --all-algorithms');
  if (policy !== undefined) loadConfig({ flags: { policy } });
  return {
    algorithms: router === undefined ? (isAll ? ALGORITHMS : []) : [oneOf('router', router, ALGORITHMS)],
    heads: oneOf('heads', heads ?? (hasTrainedHeads() ? 'trained' : 'random'), ['trained', 'random']),
    policy: policy ?? 'eager',
    numProblems: number('problems', flags.problems, 1, MAX_PROBLEMS, true),
    json: flags.json,
  };
}
