import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointError } from './checkpoint-error.ts';
import { JsonFields } from './json-file.ts';
import { ARCHITECTURES, type Architecture, type ModelConfig } from './model-config.ts';
import { readRope } from './rope-config.ts';

/** `Qwen3Config` has this head size where config.json is silent; the other families divide. */
const QWEN3_DEFAULT_HEAD_DIM = 128;

/**
 * Reads `config.json` and `generation_config.json` of a Hugging Face checkpoint directory.
 * @throws TokenrailError `checkpoint_invalid` naming the file and the key that is missing, wrong or unsupported
 */
export function readModelConfig(modelDir: string): ModelConfig {
  if (!existsSync(modelDir) || !statSync(modelDir).isDirectory()) {
    throw checkpointError(`checkpoint directory ${modelDir} does not exist`);
  }
  const config = JsonFields.read(join(modelDir, 'config.json'));
  const architecture = readArchitecture(config);
  refuseUnsupported(config);
  const numHeads = config.count('num_attention_heads');
  const hiddenSize = config.count('hidden_size');
  const slidingWindowTokens = readSlidingWindow(config, architecture);
  const model: ModelConfig = {
    architecture,
    vocabSize: config.count('vocab_size'),
    hiddenSize,
    intermediateSize: config.count('intermediate_size'),
    numLayers: config.count('num_hidden_layers'),
    numHeads,
    numKvHeads: config.count('num_key_value_heads', numHeads),
    headDim: config.count(
      'head_dim',
      architecture === 'Qwen3ForCausalLM' ? QWEN3_DEFAULT_HEAD_DIM : hiddenSize / numHeads,
    ),
    maxPositionEmbeddings: config.count('max_position_embeddings'),
    rmsNormEps: config.number('rms_norm_eps', 1e-6),
    rope: readRope(config),
    tieWordEmbeddings: config.flag('tie_word_embeddings', false),
    ...readBiases(config, architecture),
    hasQkNorm: architecture === 'Qwen3ForCausalLM',
    ...(slidingWindowTokens === undefined ? {} : { slidingWindowTokens }),
    eosIds: readEosIds(modelDir, config),
  };
  checkHeads(config.path, model);
  return model;
}

function readArchitecture(config: JsonFields): Architecture {
  const names = config.value('architectures');
  const name: unknown = Array.isArray(names) ? names[0] : undefined;
  const known = ARCHITECTURES.find((candidate) => candidate === name);
  if (known !== undefined) return known;
  throw checkpointError(
    `${config.path}: architecture ${JSON.stringify(name) ?? 'missing'} is not supported; supported are ${ARCHITECTURES.join(', ')}`,
  );
}

function refuseUnsupported(config: JsonFields): void {
  const activation = config.value('hidden_act') ?? 'silu';
  if (activation !== 'silu') throw config.wrong('hidden_act', '"silu"', activation);
  if (config.value('quantization_config') !== undefined) {
    throw checkpointError(`${config.path}: "quantization_config": quantized checkpoints are not supported`);
  }
}

function readBiases(config: JsonFields, architecture: Architecture) {
  // Qwen2 has the three input biases by construction and never the output one.
  if (architecture === 'Qwen2ForCausalLM')
    return { hasQkvBias: true, hasOutputBias: false, hasMlpBias: false };
  const hasAttentionBias = config.flag('attention_bias', false);
  const hasMlpBias = architecture === 'LlamaForCausalLM' && config.flag('mlp_bias', false);
  return { hasQkvBias: hasAttentionBias, hasOutputBias: hasAttentionBias, hasMlpBias };
}

function readSlidingWindow(config: JsonFields, architecture: Architecture): number | undefined {
  const layerTypes = config.value('layer_types');
  const types: unknown[] = Array.isArray(layerTypes) ? layerTypes : [];
  const unknownType = types.find((type) => type !== 'full_attention' && type !== 'sliding_attention');
  if (unknownType !== undefined) {
    throw checkpointError(`${config.path}: layer type ${JSON.stringify(unknownType)} is not supported`);
  }
  if (config.value('sliding_window') === undefined) return undefined;
  const slides = types.length > 0 ? types.includes('sliding_attention') : slidesByDepth(config, architecture);
  return slides ? config.count('sliding_window') : undefined;
}

/** Older Qwen configs let the layers from `max_window_layers` on slide; Llama knows no windows and ignores the keys. */
function slidesByDepth(config: JsonFields, architecture: Architecture): boolean {
  if (architecture === 'LlamaForCausalLM' || !config.flag('use_sliding_window', false)) return false;
  return config.number('max_window_layers', 0) < config.count('num_hidden_layers');
}

function readEosIds(modelDir: string, config: JsonFields): number[] {
  const path = join(modelDir, 'generation_config.json');
  const source = existsSync(path) ? JsonFields.read(path) : config;
  const from = source.value('eos_token_id') === undefined ? config : source;
  const value = from.value('eos_token_id');
  if (value === undefined) return [];
  const ids: unknown[] = Array.isArray(value) ? value : [value];
  const isValid = ids.every((id): id is number => typeof id === 'number' && Number.isInteger(id) && id >= 0);
  if (!isValid) throw from.wrong('eos_token_id', 'a token id or a list of them', value);
  return [...new Set(ids)];
}

function checkHeads(path: string, model: ModelConfig): void {
  if (model.numHeads % model.numKvHeads !== 0) {
    throw checkpointError(
      `${path}: ${model.numHeads} heads cannot be divided among ${model.numKvHeads} key/value heads`,
    );
  }
  // The attention kernel rotates blocks of 16 and would reject others only when it runs.
  if (model.headDim % 16 !== 0) {
    throw checkpointError(
      `${path}: a head size of ${model.headDim} is not supported; it must be a multiple of 16`,
    );
  }
}
