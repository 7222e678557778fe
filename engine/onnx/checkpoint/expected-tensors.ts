import type { ModelConfig } from './model-config.ts';

export const EMBEDDING = 'model.embed_tokens.weight';
export const FINAL_NORM = 'model.norm.weight';
export const HEAD = 'lm_head.weight';

/** `layerTensor(3, 'mlp.up_proj.weight')`: the name Hugging Face gives it. */
export function layerTensor(layer: number, name: string): string {
  return `model.layers.${layer}.${name}`;
}

/** Names and shapes of all tensors that a checkpoint of this configuration holds, the head only if untied. */
export function expectedTensors(config: ModelConfig): Map<string, readonly number[]> {
  const shapes = new Map<string, readonly number[]>([
    [EMBEDDING, [config.vocabSize, config.hiddenSize]],
    [FINAL_NORM, [config.hiddenSize]],
  ]);
  if (!config.tieWordEmbeddings) shapes.set(HEAD, [config.vocabSize, config.hiddenSize]);
  for (let layer = 0; layer < config.numLayers; layer += 1) {
    for (const [name, shape] of layerShapes(config)) shapes.set(layerTensor(layer, name), shape);
  }
  return shapes;
}

function layerShapes(config: ModelConfig): [string, number[]][] {
  const { hiddenSize, intermediateSize } = config;
  const queryWidth = config.numHeads * config.headDim;
  const kvWidth = config.numKvHeads * config.headDim;
  const shapes: [string, number[]][] = [
    ['input_layernorm.weight', [hiddenSize]],
    ['self_attn.q_proj.weight', [queryWidth, hiddenSize]],
    ['self_attn.k_proj.weight', [kvWidth, hiddenSize]],
    ['self_attn.v_proj.weight', [kvWidth, hiddenSize]],
    ['self_attn.o_proj.weight', [hiddenSize, queryWidth]],
    ['post_attention_layernorm.weight', [hiddenSize]],
    ['mlp.gate_proj.weight', [intermediateSize, hiddenSize]],
    ['mlp.up_proj.weight', [intermediateSize, hiddenSize]],
    ['mlp.down_proj.weight', [hiddenSize, intermediateSize]],
  ];
  if (config.hasQkvBias) {
    shapes.push(
      ['self_attn.q_proj.bias', [queryWidth]],
      ['self_attn.k_proj.bias', [kvWidth]],
      ['self_attn.v_proj.bias', [kvWidth]],
    );
  }
  if (config.hasOutputBias) shapes.push(['self_attn.o_proj.bias', [hiddenSize]]);
  if (config.hasMlpBias) {
    shapes.push(
      ['mlp.gate_proj.bias', [intermediateSize]],
      ['mlp.up_proj.bias', [intermediateSize]],
      ['mlp.down_proj.bias', [hiddenSize]],
    );
  }
  if (config.hasQkNorm)
    shapes.push(['self_attn.q_norm.weight', [config.headDim]], ['self_attn.k_norm.weight', [config.headDim]]);
  return shapes;
}

/** Number of parameters; a tied head counts once. */
export function countParameters(config: ModelConfig): number {
  let total = 0;
  for (const shape of expectedTensors(config).values())
    total += shape.reduce((product, size) => product * size, 1);
  return total;
}
