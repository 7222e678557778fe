import { parseArgs } from 'node:util';
import { TokenrailError } from '../../core/errors.ts';
import { MODES, type ModeName } from '../lab/modes.ts';
import type { PairName } from '../lab/pairs.ts';

export const USAGE = `tokenrail bench ablation: where the speed comes from. All baselines and modes over the same engines and requests.

  --pairs list        embedded, dummy (embedded,dummy)
  --concurrency list  requests alive (1,4,8,16)
  --output-tokens list  answer lengths of the dummy pair (512,2048); the embedded pair answers to the end
  --long-concurrency list  requests alive for all lengths but the first (8)
  --modes list        ${MODES.join(', ')} (all)
  --rounds n          interleaved turns per mode and setting (3)
  --seconds s         measured time of a turn (3)
  --settle s          time the default gets to find its plan before it is measured (40)
  --threshold x       R-Stitch's threshold of the embedded pair (0.02)
  --p x               random router's probability of the dummy pair (0.2)
  --quantization q    none or int4: weights of the dummy pair (int4)
  --broker b          embedded or nats-server (embedded)
  --identity n        requests compared token by token with sequential, per pair; 0 = none (8)
  --svg file          draws the page
  --json              one JSON object
  --quick             few short turns, about 3 minutes: concurrency 1,8, length 512 and 2048, 2 rounds of 1 s

The machine should do nothing else. Without --quick about 20 minutes on 2 cores.
`;

export interface AblationSettings {
  pairs: PairName[];
  concurrency: number[];
  longConcurrency: number[];
  outputTokens: number[];
  modes: ModeName[];
  rounds: number;
  seconds: number;
  settleSeconds: number;
  threshold: number;
  p: number;
  quantization: 'none' | 'int4';
  broker: 'embedded' | 'nats-server';
  identity: number;
  svg: string | undefined;
  json: boolean;
}

const invalid = (flag: string, expected: string, text: string): TokenrailError =>
  new TokenrailError('config_invalid', `--${flag}: expected ${expected}, got "${text}"`, {
    param: `--${flag}`,
  });

/** A number of the command line. @throws TokenrailError `config_invalid` naming the flag */
export function number(flag: string, text: string, min: number, max: number, isInteger = false): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (value >= min && value <= max && (!isInteger || Number.isInteger(value))) return value;
  throw invalid(flag, `${isInteger ? 'an integer' : 'a number'} from ${min} to ${max}`, text);
}

export const integers = (flag: string, text: string, max: number): number[] =>
  text.split(',').map((part) => number(flag, part, 1, max, true));

/** One of several words. @throws TokenrailError `config_invalid` naming the flag */
export function oneOf<T extends string>(flag: string, text: string, known: readonly T[]): T {
  const found = known.find((name) => name === text);
  if (found !== undefined) return found;
  throw invalid(flag, `one of ${known.join(', ')}`, text);
}

const OPTIONS = {
  pairs: { type: 'string' },
  concurrency: { type: 'string' },
  'long-concurrency': { type: 'string' },
  'output-tokens': { type: 'string' },
  modes: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  settle: { type: 'string' },
  threshold: { type: 'string' },
  p: { type: 'string' },
  quantization: { type: 'string' },
  broker: { type: 'string' },
  identity: { type: 'string' },
  svg: { type: 'string' },
  json: { type: 'boolean' },
  quick: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Parses like `parseArgs`, with our error. @throws TokenrailError `config_invalid` for unknown flags */
export function parseFlags<T extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(
  args: readonly string[],
  options: T,
) {
  try {
    return parseArgs<{ args: string[]; options: NonNullable<T> }>({
      args: [...args],
      options: options ?? {},
    } as never).values;
  } catch (thrown) {
    const message = (thrown as Error).message.replaceAll('\n', ' ');
    throw new TokenrailError('config_invalid', message, { cause: thrown });
  }
}

/** Undefined: help was asked for. @throws TokenrailError `config_invalid` */
export function readSettings(args: readonly string[]): AblationSettings | undefined {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) return undefined;
  const quick = flags.quick === true;
  const list = <T extends string>(flag: string, text: string, known: readonly T[]): T[] =>
    text.split(',').map((name) => oneOf(flag, name, known));
  return {
    pairs: list('pairs', flags.pairs ?? 'embedded,dummy', ['embedded', 'dummy'] as const),
    concurrency: integers('concurrency', flags.concurrency ?? (quick ? '1,8' : '1,4,8,16'), 32),
    longConcurrency: integers('long-concurrency', flags['long-concurrency'] ?? (quick ? '2' : '8'), 32),
    outputTokens: integers('output-tokens', flags['output-tokens'] ?? '512,2048', 8000),
    modes: list('modes', flags.modes ?? MODES.join(','), MODES),
    rounds: number('rounds', flags.rounds ?? (quick ? '2' : '3'), 1, 1000, true),
    seconds: number('seconds', flags.seconds ?? (quick ? '1' : '3'), 0.1, 600),
    settleSeconds: number('settle', flags.settle ?? (quick ? '2' : '40'), 0, 600),
    threshold: number('threshold', flags.threshold ?? '0.02', 0, 1),
    p: number('p', flags.p ?? '0.2', 0, 1),
    quantization: oneOf('quantization', flags.quantization ?? 'int4', ['none', 'int4'] as const),
    broker: oneOf('broker', flags.broker ?? 'embedded', ['embedded', 'nats-server'] as const),
    identity: number('identity', flags.identity ?? (quick ? '4' : '8'), 0, 400, true),
    svg: flags.svg,
    json: flags.json === true,
  };
}
