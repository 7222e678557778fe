import { writeFileSync } from 'node:fs';

/** Rows of a matrix, or a vector. */
export type Values = readonly number[] | readonly (readonly number[])[];
export type HeadTensors = ReadonlyMap<string, Values>;

const isMatrix = (values: Values): values is readonly (readonly number[])[] => Array.isArray(values[0]);

/** Writes a safetensors file of float32 tensors. */
export function writeHeadFile(
  path: string,
  tensors: HeadTensors,
  metadata: Readonly<Record<string, string>>,
): string {
  const header: Record<string, unknown> = { __metadata__: metadata };
  const chunks: Uint8Array[] = [];
  let at = 0;
  for (const [name, values] of tensors) {
    const shape = isMatrix(values) ? [values.length, values[0]?.length ?? 0] : [values.length];
    const bytes = new Uint8Array(Float32Array.from(values.flat()).buffer);
    header[name] = { dtype: 'F32', shape, data_offsets: [at, at + bytes.byteLength] };
    at += bytes.byteLength;
    chunks.push(bytes);
  }
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(json.byteLength));
  writeFileSync(path, Buffer.concat([prefix, json, ...chunks]));
  return path;
}

/** A linear layer of a golden vector: weights by output. */
export interface Linear {
  w: number[][];
  b: number[];
}
interface Norm {
  g: number[];
  b: number[];
}

export interface ClassifierNet {
  logitsProjection: Linear;
  combinedProjection: Linear;
  inputProjection: Linear;
  blocks: { norm: Norm; up: Linear; down: Linear; skip: Linear | null }[];
  outNorm: Norm;
  out: Linear;
}

export interface MlpNet {
  fc1: Linear;
  bn: Norm & { mean: number[]; var: number[] };
  fc2: Linear;
  head: Linear;
}

const linear = (name: string, { w, b }: Linear): [string, Values][] => [
  [`${name}.weight`, w],
  [`${name}.bias`, b],
];
const norm = (name: string, { g, b }: Norm): [string, Values][] => [
  [`${name}.weight`, g],
  [`${name}.bias`, b],
];

/** R2R's network under the names of its published state dict. */
export function classifierTensors(net: ClassifierNet): HeadTensors {
  const blocks = net.blocks.flatMap(({ norm: before, up, down, skip }, i) => [
    ...norm(`backbone.blocks.${i}.layer_norm`, before),
    ...linear(`backbone.blocks.${i}.mlp.0`, up),
    ...linear(`backbone.blocks.${i}.mlp.3`, down),
    ...(skip ? linear(`backbone.blocks.${i}.dim_change`, skip) : []),
  ]);
  return new Map([
    ...linear('logits_projection', net.logitsProjection),
    ...linear('combined_projection', net.combinedProjection),
    ...linear('backbone.input_projection', net.inputProjection),
    ...blocks,
    ...norm('backbone.output_layer.0', net.outNorm),
    ...linear('backbone.output_layer.1', net.out),
  ]);
}

export function mlpTensors({ fc1, bn, fc2, head }: MlpNet): HeadTensors {
  return new Map([
    ...linear('fc1', fc1),
    ...norm('bn', bn),
    ['bn.running_mean', bn.mean],
    ['bn.running_var', bn.var],
    ...linear('fc2', fc2),
    ...linear('head', head),
  ]);
}

export function linearHeadTensors(weight: number[], bias: number): HeadTensors {
  return new Map<string, Values>([
    ['weight', [weight]],
    ['bias', [bias]],
  ]);
}

export const ARCHITECTURE = {
  classifier: 'HiddenStatesTokenLMHeadLogitsClassifier',
  mlp: 'BatchNormMlp',
  linear: 'LinearHead',
} as const;
