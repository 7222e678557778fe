import { join } from 'node:path';
import type { ModelConfig } from '../../../../engine/onnx/checkpoint/model-config.ts';
import { readModelConfig } from '../../../../engine/onnx/checkpoint/read-config.ts';
import { toFloat32 } from '../../../../engine/onnx/checkpoint/to-float32.ts';
import { inverseFrequencies } from '../../../../engine/onnx/weights/rope-tables.ts';
import { readTensors } from './checkpoints.ts';

type Vector = number[];
type Tensors = (name: string) => Float32Array | undefined;

/** A single-file checkpoint computed in double precision, one position after the other; slow and plain. */
export function referenceLogits(directory: string, ids: readonly number[]): Vector[] {
  const config = readModelConfig(directory);
  const stored = readTensors(join(directory, 'model.safetensors'));
  const tensors: Tensors = (name) => {
    const tensor = stored.get(name);
    return tensor === undefined ? undefined : toFloat32(tensor.bytes, tensor.dtype);
  };
  const embedding = tensors('model.embed_tokens.weight') ?? new Float32Array();
  const head = config.tieWordEmbeddings ? embedding : (tensors('lm_head.weight') ?? embedding);
  let states = ids.map((id) =>
    Array.from(embedding.subarray(id * config.hiddenSize, (id + 1) * config.hiddenSize)),
  );
  for (let layer = 0; layer < config.numLayers; layer += 1) {
    states = runLayer(config, (name) => tensors(`model.layers.${layer}.${name}`), states);
  }
  const gain = tensors('model.norm.weight');
  return states.map((state) => multiply(head, undefined, norm(state, gain, config.rmsNormEps)));
}

function runLayer(config: ModelConfig, tensors: Tensors, states: readonly Vector[]): Vector[] {
  const linear = (name: string, x: Vector): Vector =>
    multiply(tensors(`${name}.weight`), tensors(`${name}.bias`), x);
  const inputs = states.map((state) => norm(state, tensors('input_layernorm.weight'), config.rmsNormEps));
  const heads = (
    name: string,
    x: Vector,
    gain: string | undefined,
    position: number | undefined,
  ): Vector[] => {
    const flat = linear(`self_attn.${name}`, x);
    const count = flat.length / config.headDim;
    return Array.from({ length: count }, (_, h) => {
      const head = flat.slice(h * config.headDim, (h + 1) * config.headDim);
      const normed =
        gain !== undefined && config.hasQkNorm ? norm(head, tensors(gain), config.rmsNormEps) : head;
      return position === undefined ? normed : rotate(config, normed, position);
    });
  };
  const queries = inputs.map((x, t) => heads('q_proj', x, 'self_attn.q_norm.weight', t));
  const keys = inputs.map((x, t) => heads('k_proj', x, 'self_attn.k_norm.weight', t));
  const values = inputs.map((x) => heads('v_proj', x, undefined, undefined));
  return states.map((state, t) => {
    const mixed = (queries[t] ?? []).flatMap((query, h) =>
      attend(config, query, h, keys.slice(0, t + 1), values),
    );
    const middle = add(state, linear('self_attn.o_proj', mixed));
    const x = norm(middle, tensors('post_attention_layernorm.weight'), config.rmsNormEps);
    const gate = linear('mlp.gate_proj', x).map((g) => g / (1 + Math.exp(-g)));
    const up = linear('mlp.up_proj', x);
    return add(
      middle,
      linear(
        'mlp.down_proj',
        gate.map((g, i) => g * (up[i] ?? NaN)),
      ),
    );
  });
}

function attend(
  config: ModelConfig,
  query: Vector,
  head: number,
  keys: readonly Vector[][],
  values: readonly Vector[][],
): Vector {
  const group = Math.floor(head / (config.numHeads / config.numKvHeads));
  const scores = keys.map((key) => dot(query, key[group] ?? []) / Math.sqrt(config.headDim));
  const max = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - max));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return query.map((_, i) =>
    weights.reduce((sum, weight, t) => sum + (weight / total) * (values[t]?.[group]?.[i] ?? NaN), 0),
  );
}

function rotate(config: ModelConfig, x: Vector, position: number): Vector {
  const half = config.headDim / 2;
  const frequencies = inverseFrequencies(config.rope, config.headDim);
  return x.map((value, i) => {
    const angle = position * (frequencies[i % half] ?? NaN);
    const other = i < half ? -(x[i + half] ?? NaN) : (x[i - half] ?? NaN);
    return value * Math.cos(angle) + other * Math.sin(angle);
  });
}

function norm(x: Vector, gain: Float32Array | undefined, eps: number): Vector {
  const scale = 1 / Math.sqrt(dot(x, x) / x.length + eps);
  return x.map((value, i) => value * scale * (gain?.[i] ?? NaN));
}

function multiply(matrix: Float32Array | undefined, bias: Float32Array | undefined, x: Vector): Vector {
  if (matrix === undefined) throw new Error('a weight is missing');
  return Array.from({ length: matrix.length / x.length }, (_, row) => {
    let sum = bias?.[row] ?? 0;
    for (let i = 0; i < x.length; i += 1) sum += (matrix[row * x.length + i] ?? NaN) * (x[i] ?? NaN);
    return sum;
  });
}

const dot = (a: Vector, b: Vector): number => a.reduce((sum, value, i) => sum + value * (b[i] ?? NaN), 0);
const add = (a: Vector, b: Vector): Vector => a.map((value, i) => value + (b[i] ?? NaN));
