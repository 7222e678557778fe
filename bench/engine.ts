import { parseArgs } from 'node:util';
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

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    rows: { type: 'string', default: '8' },
    context: { type: 'string', default: '2048' },
    threads: { type: 'string', default: '1' },
    quantization: { type: 'string', default: 'both' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const SPLIT_CONTEXT_TOKENS = 256;

function count(name: 'rounds' | 'rows' | 'context' | 'threads'): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= (name === 'rows' ? 2 : 1)) return value;
  throw new Error(`--${name} must be a positive integer (rows: at least 2), found ${values[name]}`);
}

async function measure(quantization: BenchSettings['quantization']): Promise<Measurement[]> {
  const settings = {
    quantization,
    rows: count('rows'),
    contextTokens: count('context'),
    numThreads: count('threads'),
  };
  const rounds = count('rounds');
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

if (values.help) {
  process.stdout.write(USAGE);
} else {
  const kinds = values.quantization === 'both' ? ['int4', 'none'] : [values.quantization];
  const results: Record<string, Measurement[]> = {};
  for (const kind of kinds) {
    if (kind !== 'int4' && kind !== 'none')
      throw new Error(`--quantization must be int4, none or both, found ${kind}`);
    const measurements = await measure(kind);
    results[kind] = measurements;
    if (!values.json)
      process.stdout.write(
        [
          `${kind === 'int4' ? 'int4' : 'float32'}, random weights`,
          ...measurements.map(formatMeasurement),
          '',
        ].join('\n'),
      );
  }
  if (values.json) {
    const withVerdicts = Object.entries(results).map(([kind, list]) => [
      kind,
      list.map((m) => ({ ...m, pass: isWithinBound(m) ?? null })),
    ]);
    process.stdout.write(
      `${JSON.stringify({ hasRandomWeights: true, ...Object.fromEntries(withVerdicts) }, null, 2)}\n`,
    );
  }
  if (
    Object.values(results)
      .flat()
      .some((m) => isWithinBound(m) === false)
  )
    process.exitCode = 1;
}
