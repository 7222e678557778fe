// npm run bench:heads: what the routers' networks add to a step of the small model.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../deploy/config/package-root.ts';
import type { HeadSpec } from '../engine/engine.ts';
import { readModelConfig } from '../engine/onnx/checkpoint/read-config.ts';
import { SMOLLM2_DIR } from './engine/bench-model.ts';
import { measureHeads, type HeadCost, type HeadSettings } from './heads/measure.ts';
import { writeRandomHead, type HeadKind } from './lib/random-head-file.ts';

const USAGE = `What routers' networks (random weights) add to a step of the small model.

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

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '40' },
    rows: { type: 'string', default: '8' },
    context: { type: 'string', default: '64' },
    threads: { type: 'string', default: '1' },
    quantization: { type: 'string', default: 'both' },
    model: { type: 'string', default: 'both' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const MAX_SHARE_PERCENT = 10;

interface Scale {
  key: string;
  label: string;
  modelDir: string;
  loadFormat: HeadSettings['loadFormat'];
  /** Widths of R2R's blocks; undefined: as published. */
  classifiers: ReadonlyMap<string, readonly number[] | undefined>;
  isBounded: boolean;
}

const SCALES: readonly Scale[] = [
  {
    key: 'smollm2',
    label: "random weights of SmolLM2-135M's shape",
    modelDir: SMOLLM2_DIR,
    loadFormat: 'dummy',
    classifiers: new Map([
      ['r2r, as published (6 blocks of 1024)', undefined],
      ['r2r, 2 blocks of 128', [128, 128]],
    ]),
    isBounded: true,
  },
  {
    key: 'embedded',
    label: 'the embedded small model',
    modelDir: join(packageRoot, 'models', 'small'),
    loadFormat: 'auto',
    classifiers: new Map([['r2r, 2 blocks of 128', [128, 128]]]),
    isBounded: false,
  },
];

function integer(name: 'rounds' | 'rows' | 'context' | 'threads'): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new Error(`--${name} must be a positive integer, found ${values[name]}`);
}

function chosen<T extends string>(name: 'quantization' | 'model', known: readonly T[]): readonly T[] {
  const value = values[name];
  if (value === 'both') return known;
  const found = known.find((one) => one === value);
  if (found === undefined) throw new Error(`--${name} must be ${known.join(', ')} or both, found ${value}`);
  return [found];
}

function headsOf({ modelDir, classifiers }: Scale, dir: string): Map<string, HeadSpec> {
  const { hiddenSize } = readModelConfig(modelDir);
  const heads = new Map<string, HeadSpec>();
  const add = (name: string, kind: HeadKind, widths?: readonly number[]): void => {
    const size = { hiddenSize, seed: heads.size, ...(widths === undefined ? {} : { widths }) };
    heads.set(name, { file: writeRandomHead(join(dir, `${heads.size}.safetensors`), kind, size) });
  };
  add('co-llm', 'co-llm');
  add('citer', 'citer');
  for (const [name, widths] of classifiers) add(name, 'r2r', widths);
  return heads;
}

function measure(scale: Scale, quantization: HeadSettings['quantization']): HeadCost[] {
  const dir = mkdtempSync(join(tmpdir(), 'tokenrail-bench-heads-'));
  try {
    const settings: HeadSettings = {
      modelDir: scale.modelDir,
      loadFormat: scale.loadFormat,
      quantization,
      rows: integer('rows'),
      contextTokens: integer('context'),
      numThreads: integer('threads'),
      rounds: integer('rounds'),
    };
    return measureHeads(settings, headsOf(scale, dir));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

const isOver = ({ isBounded }: Scale, { name, sharePercent }: HeadCost): boolean =>
  isBounded && !name.startsWith('r2r') && sharePercent > MAX_SHARE_PERCENT;

function line(scale: Scale, cost: HeadCost): string {
  const { name, headMs, insidePercent, sharePercent, lowPercent, highPercent } = cost;
  const inside = `${headMs.toFixed(3).padStart(8)} ms ${insidePercent.toFixed(1).padStart(5)} %`;
  const share = `${sharePercent.toFixed(1).padStart(6)} %  [${lowPercent.toFixed(1)}, ${highPercent.toFixed(1)}]`;
  const isBounded = scale.isBounded && !name.startsWith('r2r');
  const verdict = isBounded ? `≤ ${MAX_SHARE_PERCENT} %  ${isOver(scale, cost) ? 'FAIL' : 'pass'}` : '';
  return `  ${name.padEnd(36)} ${inside}  step ${share.padEnd(28)} ${verdict}`.trimEnd();
}

if (values.help) {
  process.stdout.write(USAGE);
} else {
  const keys = chosen(
    'model',
    SCALES.map(({ key }) => key),
  );
  const results: object[] = [];
  for (const scale of SCALES.filter(({ key }) => keys.includes(key))) {
    for (const quantization of chosen('quantization', ['int4', 'none'] as const)) {
      const costs = measure(scale, quantization);
      if (costs.some((cost) => isOver(scale, cost))) process.exitCode = 1;
      results.push({ model: scale.key, quantization, hasRandomHeads: true, costs });
      if (values.json) continue;
      const format = quantization === 'int4' ? 'int4' : 'float32';
      const step = `a step of ${values.rows} rows: ${costs[0]?.stepMs.toFixed(2)} ms`;
      process.stdout.write(`${scale.label}, ${format}, networks with random weights; ${step}\n`);
      for (const cost of costs) process.stdout.write(`${line(scale, cost)}\n`);
    }
  }
  if (values.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
}
