import { EMBEDDING, FINAL_NORM, HEAD, layerTensor } from '../checkpoint/expected-tensors.ts';
import type { ModelConfig } from '../checkpoint/model-config.ts';
import type { WeightSource } from '../checkpoint/weight-source.ts';
import { quantizeInt4 } from './int4.ts';
import { ropeTables } from './rope-tables.ts';
import { transpose } from './transpose.ts';
import { biasOf, layerWeight, scalesOf, WEIGHT, type LayerWeight } from './weight-names.ts';
import type { WeightsFile } from './weights-file.ts';

export type Quantization = 'none' | 'int4';

interface LinearPart {
  /** Name of the module; its weight is [outputs, inputs] as stored. */
  module: string;
  outputs: number;
}

/**
 * Writes every weight in the layout of the graph: q, k and v as one matrix, gate and up as one; float32
 * linear layers transposed for `MatMul`, int4 ones packed for `MatMulNBits`. The head is quantized with the
 * other linear layers; embedding, norms and biases stay float32.
 */
export function writeWeights(
  file: WeightsFile,
  config: ModelConfig,
  source: WeightSource,
  options: { quantization: Quantization; maxModelLenTokens: number },
): void {
  const { hiddenSize, vocabSize } = config;
  const writer = new LayerWriter(file, config, source, options.quantization);
  const embedding = source.read(EMBEDDING, [vocabSize, hiddenSize]);
  file.add(WEIGHT.embedding, [vocabSize, hiddenSize], embedding);
  const head = source.hasOwnHead ? source.read(HEAD, [vocabSize, hiddenSize]) : embedding;
  writer.writeMatrix(WEIGHT.head, head, vocabSize, hiddenSize);
  for (let layer = 0; layer < config.numLayers; layer += 1) writer.writeLayer(layer);
  file.add(WEIGHT.finalNorm, [hiddenSize], source.read(FINAL_NORM, [hiddenSize]));
  const { cos, sin } = ropeTables(config.rope, config.headDim, options.maxModelLenTokens);
  file.add(WEIGHT.cos, [options.maxModelLenTokens, config.headDim / 2], cos);
  file.add(WEIGHT.sin, [options.maxModelLenTokens, config.headDim / 2], sin);
}

class LayerWriter {
  private readonly file: WeightsFile;
  private readonly config: ModelConfig;
  private readonly source: WeightSource;
  private readonly quantization: Quantization;

  constructor(file: WeightsFile, config: ModelConfig, source: WeightSource, quantization: Quantization) {
    this.file = file;
    this.config = config;
    this.source = source;
    this.quantization = quantization;
  }

  writeLayer(layer: number): void {
    const { config } = this;
    const queryWidth = config.numHeads * config.headDim;
    const kvWidth = config.numKvHeads * config.headDim;
    this.writeVector(layer, 'attention_norm', 'input_layernorm.weight', config.hiddenSize);
    const qkv = [
      { module: 'self_attn.q_proj', outputs: queryWidth },
      { module: 'self_attn.k_proj', outputs: kvWidth },
      { module: 'self_attn.v_proj', outputs: kvWidth },
    ];
    this.writeLinear(layer, 'qkv', qkv, config.hiddenSize, config.hasQkvBias);
    if (config.hasQkNorm) {
      this.writeVector(layer, 'q_norm', 'self_attn.q_norm.weight', config.headDim);
      this.writeVector(layer, 'k_norm', 'self_attn.k_norm.weight', config.headDim);
    }
    const output = [{ module: 'self_attn.o_proj', outputs: config.hiddenSize }];
    this.writeLinear(layer, 'attention_output', output, queryWidth, config.hasOutputBias);
    this.writeVector(layer, 'mlp_norm', 'post_attention_layernorm.weight', config.hiddenSize);
    const gateUp = [
      { module: 'mlp.gate_proj', outputs: config.intermediateSize },
      { module: 'mlp.up_proj', outputs: config.intermediateSize },
    ];
    this.writeLinear(layer, 'gate_up', gateUp, config.hiddenSize, config.hasMlpBias);
    const down = [{ module: 'mlp.down_proj', outputs: config.hiddenSize }];
    this.writeLinear(layer, 'down', down, config.intermediateSize, config.hasMlpBias);
  }

  /** Writes a row-major [outputs, inputs] matrix as a linear layer's weight. */
  writeMatrix(name: string, weights: Float32Array, outputs: number, inputs: number): void {
    if (this.quantization === 'none') {
      this.file.add(name, [inputs, outputs], transpose(weights, outputs, inputs));
      return;
    }
    const { codes, scales, blocks } = quantizeInt4(weights, outputs, inputs);
    this.file.add(name, [outputs, blocks, codes.length / (outputs * blocks)], codes);
    this.file.add(scalesOf(name), [scales.length], scales);
  }

  private writeVector(layer: number, name: LayerWeight, tensor: string, size: number): void {
    this.file.add(layerWeight(layer, name), [size], this.source.read(layerTensor(layer, tensor), [size]));
  }

  private writeLinear(
    layer: number,
    name: LayerWeight,
    parts: LinearPart[],
    inputs: number,
    hasBias: boolean,
  ): void {
    const target = layerWeight(layer, name);
    const weights = parts.map((part) =>
      this.source.read(layerTensor(layer, `${part.module}.weight`), [part.outputs, inputs]),
    );
    const outputs = parts.reduce((sum, part) => sum + part.outputs, 0);
    this.writeMatrix(target, concatenate(weights), outputs, inputs);
    if (!hasBias) return;
    const biases = parts.map((part) =>
      this.source.read(layerTensor(layer, `${part.module}.bias`), [part.outputs]),
    );
    this.file.add(biasOf(target), [outputs], concatenate(biases));
  }
}

function concatenate(parts: readonly Float32Array[]): Float32Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const joined = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
