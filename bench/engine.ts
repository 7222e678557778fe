// tokenrail bench engine (npm run bench:engine): what the ragged engine costs.
import { number, oneOf, parseFlags } from './ablation/settings.ts';
import { openBenchModel, type BenchSettings } from './engine/bench-model.ts';
import { measureLoopShare } from './engine/loop-share.ts';
import { formatMeasurement, isWithinBound, type Measurement } from './engine/measurement.ts';
import { measureRejoin } from './engine/rejoin.ts';
import { measureRowSplit } from './engine/row-split.ts';

const USAGE = `Engine efficiency on random weights of SmolLM2-135M's shape.

  --rounds n        interleaved rounds per comparison (25)
  --rows n          rows of a step (8)
  --context n       tokens of context of the rejoin steps (2048)
  --threads n       threads inside an operator (1)
  --quantization q  int4, none, or both (both)
  --json            print one JSON object

Exit code 1 if a bound is missed.
`;

const OPTIONS = {
  rounds: { type: 'string', default: '25' },
  rows: { type: 'string', default: '8' },
  context: { type: 'string', default: '2048' },
  threads: { type: 'string', default: '1' },
  quantization: { type: 'string', default: 'both' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Rows of the largest step of the engine. */
const MAX_ROWS = 32;
const MAX_CONTEXT_TOKENS = 8000;
const MAX_ROUNDS = 10_000;
const MAX_THREADS = 1024;
const SPLIT_CONTEXT_TOKENS = 256;
const KINDS = ['int4', 'none'] as const;

async function measure(settings: BenchSettings, rounds: number): Promise<Measurement[]> {
  const measurements = await measureLoopShare(settings, rounds);
  const model = openBenchModel(settings);
  try {
    measurements.push(
      ...measureRowSplit(
        model,
        { ...settings, contextTokens: Math.min(SPLIT_CONTEXT_TOKENS, settings.contextTokens) },
        rounds,
      ),
    );
    measurements.push(...measureRejoin(model, settings, rounds));
  } finally {
    model.close();
  }
  return measurements;
}

/** Runs the measurement of a command line. @returns the exit code: 1 if a bound is missed */
export async function engine(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args, OPTIONS);
  if (flags.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const chosen = oneOf('quantization', flags.quantization, [...KINDS, 'both']);
  const rounds = number('rounds', flags.rounds, 1, MAX_ROUNDS, true);
  const sizes = {
    rows: number('rows', flags.rows, 2, MAX_ROWS, true),
    contextTokens: number('context', flags.context, 1, MAX_CONTEXT_TOKENS, true),
    numThreads: number('threads', flags.threads, 1, MAX_THREADS, true),
  };
  const results: Record<string, object[]> = {};
  let isFine = true;
  for (const quantization of KINDS.filter((kind) => chosen === 'both' || chosen === kind)) {
    const measurements = await measure({ quantization, ...sizes }, rounds);
    isFine &&= measurements.every((one) => isWithinBound(one) !== false);
    results[quantization] = measurements.map((one) => ({ ...one, pass: isWithinBound(one) ?? null }));
    if (flags.json) continue;
    const title = `${quantization === 'int4' ? 'int4' : 'float32'}, random weights`;
    process.stdout.write([title, ...measurements.map(formatMeasurement), ''].join('\n'));
  }
  if (flags.json)
    process.stdout.write(`${JSON.stringify({ hasRandomWeights: true, ...results }, null, 2)}\n`);
  return isFine ? 0 : 1;
}
