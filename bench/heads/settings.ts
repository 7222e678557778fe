import { number, oneOf, parseFlags } from '../ablation/settings.ts';
import { SCALES, type Scale } from './scales.ts';
import type { HeadSettings } from './measure.ts';

export const USAGE = `What routers' networks (random weights) add to a step of the small model.

Two models: random weights of SmolLM2-135M's shape with networks of the published sizes, and the
embedded small model with networks of its scale.

  --rounds n        interleaved rounds (40)
  --rows n          rows of a step (8)
  --context n       tokens of context (64)
  --threads n       threads inside an operator (1)
  --quantization q  int4, none, or both (both)
  --model m         smollm2, embedded, or both (both)
  --json            print one JSON object

Exit code 1 if CITER or Co-LLM take more than 10 % of a step of SmolLM2-135M's shape.
`;

export interface HeadsSettings {
  scales: readonly Scale[];
  quantizations: readonly HeadSettings['quantization'][];
  sizes: Pick<HeadSettings, 'rounds' | 'rows' | 'contextTokens' | 'numThreads'>;
  json: boolean;
}

const OPTIONS = {
  rounds: { type: 'string', default: '40' },
  rows: { type: 'string', default: '8' },
  context: { type: 'string', default: '64' },
  threads: { type: 'string', default: '1' },
  quantization: { type: 'string', default: 'both' },
  model: { type: 'string', default: 'both' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Rows of the largest step of the engine. */
const MAX_ROWS = 32;
const MAX_CONTEXT_TOKENS = 8191;
const MAX_ROUNDS = 10_000;
const MAX_THREADS = 1024;

/** One of several words, or all of them. */
function chosen<T extends string>(flag: string, text: string, known: readonly T[]): readonly T[] {
  const found = oneOf(flag, text, [...known, 'both']);
  return known.filter((one) => found === 'both' || one === found);
}

/** Undefined: help was asked for. @throws TokenrailError `config_invalid` naming the flag */
export function readSettings(args: readonly string[]): HeadsSettings | undefined {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) return undefined;
  const keys = chosen('model', flags.model, ['smollm2', 'embedded']);
  return {
    scales: SCALES.filter(({ key }) => keys.includes(key)),
    quantizations: chosen('quantization', flags.quantization, ['int4', 'none']),
    sizes: {
      rounds: number('rounds', flags.rounds, 1, MAX_ROUNDS, true),
      rows: number('rows', flags.rows, 1, MAX_ROWS, true),
      contextTokens: number('context', flags.context, 1, MAX_CONTEXT_TOKENS, true),
      numThreads: number('threads', flags.threads, 1, MAX_THREADS, true),
    },
    json: flags.json,
  };
}
