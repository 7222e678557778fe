import { closeSync, openSync, writeSync } from 'node:fs';
import { linearShapes, normShapes } from '../../engine/onnx/heads/head-layout.ts';
import { batchNormMlp } from '../../engine/onnx/heads/layouts/batch-norm-mlp.ts';
import { linearHead } from '../../engine/onnx/heads/layouts/linear-head.ts';
import { residualClassifier } from '../../engine/onnx/heads/layouts/residual-classifier.ts';

/** Which router's network. */
export type HeadKind = 'r2r' | 'citer' | 'co-llm';

export interface HeadSize {
  hiddenSize: number;
  /** R2R: width of each block. Default: the published network, 55 million parameters whatever the model. */
  widths?: readonly number[];
}

const PUBLISHED_WIDTHS = [1024, 1024, 1024, 1024, 1024, 1024];
const R2R_TOP_K = 100;

type Shape = readonly [string, readonly number[]];

function classifierShapes({ hiddenSize, widths = PUBLISHED_WIDTHS }: HeadSize): Shape[] {
  const [first = 1] = widths;
  return [
    ...linearShapes('logits_projection', hiddenSize, R2R_TOP_K),
    ...linearShapes('combined_projection', first, 3 * hiddenSize),
    ...linearShapes('backbone.input_projection', first, first),
    ...widths.flatMap((width, i): Shape[] => {
      const name = `backbone.blocks.${i}`;
      const next = widths[i + 1] ?? width;
      return [
        ...normShapes(`${name}.layer_norm`, width),
        ...linearShapes(`${name}.mlp.0`, 4 * width, width),
        ...linearShapes(`${name}.mlp.3`, next, 4 * width),
        ...(next === width ? [] : linearShapes(`${name}.dim_change`, next, width)),
      ];
    }),
    ...normShapes('backbone.output_layer.0', widths.at(-1) ?? 1),
    ...linearShapes('backbone.output_layer.1', 1, widths.at(-1) ?? 1),
  ];
}

function mlpShapes({ hiddenSize }: HeadSize): Shape[] {
  const inner = 2 * hiddenSize;
  return [
    ...linearShapes('fc1', inner, hiddenSize),
    ...normShapes('bn', inner),
    ['bn.running_mean', [inner]],
    ['bn.running_var', [inner]],
    ...linearShapes('fc2', hiddenSize, inner),
    ...linearShapes('head', 1, hiddenSize),
  ];
}

function shapesOf(kind: HeadKind, size: HeadSize): { architecture: string; shapes: Shape[] } {
  switch (kind) {
    case 'r2r':
      return { architecture: residualClassifier.architecture, shapes: classifierShapes(size) };
    case 'citer':
      return { architecture: batchNormMlp.architecture, shapes: mlpShapes(size) };
    case 'co-llm': {
      const shapes: Shape[] = [
        ['weight', [1, size.hiddenSize]],
        ['bias', [1]],
      ];
      return { architecture: linearHead.architecture, shapes };
    }
  }
}

const count = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

/** A linear congruential generator: the same numbers for a seed, and quick enough for tens of millions. */
function generator(seed: number): () => number {
  let state = (seed + 1) * 2_654_435_761;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >> 8) / 0x80_0000;
  };
}

/** Gains and variances around 1, offsets around 0, and matrices that keep the size of what goes through. */
function valuesOf(name: string, shape: readonly number[], draw: () => number): Float32Array {
  const isGain = shape.length === 1 && (name.endsWith('.weight') || name.endsWith('.running_var'));
  const scale = shape.length === 2 ? Math.sqrt(3 / (shape[1] ?? 1)) : isGain ? 0.3 : 0.1;
  return Float32Array.from({ length: count(shape) }, () => (isGain ? 1 : 0) + scale * draw());
}

/**
 * Writes a network with random weights: it decides at random, but the same wherever it runs.
 * @param metadata further texts of the file, such as `threshold`
 * @returns the path
 */
export function writeRandomHead(
  path: string,
  kind: HeadKind,
  size: HeadSize & { seed: number },
  metadata: Readonly<Record<string, string>> = {},
): string {
  const { architecture, shapes } = shapesOf(kind, size);
  const header: Record<string, unknown> = {
    __metadata__: { architecture, weights: 'random', ...metadata },
  };
  let at = 0;
  for (const [name, shape] of shapes) {
    const end = at + 4 * count(shape);
    header[name] = { dtype: 'F32', shape, data_offsets: [at, end] };
    at = end;
  }
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(json.byteLength));
  const draw = generator(size.seed);
  const fd = openSync(path, 'w');
  try {
    writeSync(fd, prefix);
    writeSync(fd, json);
    for (const [name, shape] of shapes) {
      const values = valuesOf(name, shape, draw);
      writeSync(fd, new Uint8Array(values.buffer));
    }
  } finally {
    closeSync(fd);
  }
  return path;
}
