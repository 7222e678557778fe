import { TokenrailError } from '../../core/errors.ts';
import { number, oneOf, parseFlags } from '../ablation/settings.ts';
import type { ProblemList } from '../lib/problems.ts';

export const USAGE = `tokenrail bench quality: accuracy against the large model's share of the tokens. Models alone, routing whole queries,
and every algorithm at several thresholds, which are chosen on the validation problems before the reported list is read.

  --list list         test, test-sentences, validation (test); the first one makes the plot
  --problems n        the first n problems of each list (400)
  --calibrate n       validation problems to choose by (200)
  --algorithms list   r-stitch, entropy, r2r, citer, co-llm, co-llm-compose (all whose network is there)
  --shares list       quantiles of the signals that make the thresholds tried on validation, in percent
                      (2,3,4,5,6,7,8.5,12)
  --report-shares list  for each of these shares of the large model, in percent, the threshold that came nearest on
                      validation is reported, and the chosen one (3,5,7,10)
  --max-share x       largest share of the chosen point, in percent (7)
  --heads dir         trained networks, NAME/head.safetensors (models/routers)
  --concurrency n     requests alive (16)
  --seed n            of the resamples behind standard errors and intervals (1)
  --svg file          draws the page
  --json              one JSON object

Chosen point: the best validation accuracy with at most --max-share. Goal on whole lists: one trained algorithm keeps 98 % of
the large model's accuracy there, and all curves lie above query-level routing. About 25 minutes on 2 cores that do nothing
else.
`;

export const ALGORITHM_NAMES = ['r-stitch', 'entropy', 'r2r', 'citer', 'co-llm', 'co-llm-compose'] as const;
const LISTS = ['test', 'test-sentences', 'validation'] as const;

export interface QualitySettings {
  lists: ProblemList[];
  numProblems: number;
  numValidation: number;
  /** Undefined: all whose network is there. */
  algorithms: string[] | undefined;
  /** In [0, 1]. */
  shares: number[];
  reportShares: number[];
  maxShare: number;
  headsDir: string | undefined;
  concurrency: number;
  seed: number;
  svg: string | undefined;
  json: boolean;
}

const OPTIONS = {
  list: { type: 'string', default: 'test' },
  problems: { type: 'string', default: '400' },
  calibrate: { type: 'string', default: '200' },
  algorithms: { type: 'string' },
  shares: { type: 'string', default: '2,3,4,5,6,7,8.5,12' },
  'report-shares': { type: 'string', default: '3,5,7,10' },
  'max-share': { type: 'string', default: '7' },
  heads: { type: 'string' },
  concurrency: { type: 'string', default: '16' },
  seed: { type: 'string', default: '1' },
  svg: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const MAX_PROBLEMS = 400;
const MAX_VALIDATION = 200;

const percent = (flag: string, text: string): number => number(flag, text, 0.01, 100) / 100;
const percents = (flag: string, text: string): number[] =>
  unique(text.split(',')).map((one) => percent(flag, one));
const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];

/** Undefined: help was asked for. @throws TokenrailError `config_invalid` naming the flag */
export function readSettings(args: readonly string[]): QualitySettings | undefined {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) return undefined;
  const shares = percents('shares', flags.shares);
  if (Math.max(...shares) >= 1)
    throw new TokenrailError('config_invalid', '--shares: expected less than 100', { param: '--shares' });
  return {
    lists: unique(flags.list.split(',')).map((name) => oneOf('list', name, LISTS)),
    numProblems: number('problems', flags.problems, 1, MAX_PROBLEMS, true),
    numValidation: number('calibrate', flags.calibrate, 1, MAX_VALIDATION, true),
    algorithms: flags.algorithms?.split(',').map((name) => oneOf('algorithms', name, ALGORITHM_NAMES)),
    shares,
    reportShares: percents('report-shares', flags['report-shares']),
    maxShare: percent('max-share', flags['max-share']),
    headsDir: flags.heads,
    concurrency: number('concurrency', flags.concurrency, 1, 64, true),
    seed: number('seed', flags.seed, 0, Number.MAX_SAFE_INTEGER, true),
    svg: flags.svg,
    json: flags.json,
  };
}
