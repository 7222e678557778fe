import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TokenrailError } from '../../../core/errors.ts';
import type { ModelConfig } from '../../../engine/onnx/checkpoint/model-config.ts';
import { readModelConfig } from '../../../engine/onnx/checkpoint/read-config.ts';
import { engineLimits } from '../../../engine/onnx/limits.ts';
import { resolveOptions } from '../../../engine/onnx/options.ts';
import { copyOf, editJson } from './helpers/checkpoints.ts';
import { DEFAULTS } from './helpers/golden-run.ts';

function changed(
  name: string,
  changes: Record<string, unknown>,
  generation?: Record<string, unknown>,
): string {
  const directory = copyOf(name);
  editJson(join(directory, 'config.json'), changes);
  if (generation !== undefined) editJson(join(directory, 'generation_config.json'), generation);
  return directory;
}

function refusal(action: () => unknown): TokenrailError {
  try {
    action();
  } catch (error) {
    if (error instanceof TokenrailError) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('families', () => {
  it('reads the flags of each', () => {
    const flags = ({ hasQkvBias, hasOutputBias, hasMlpBias, hasQkNorm }: ModelConfig) => ({
      hasQkvBias,
      hasOutputBias,
      hasMlpBias,
      hasQkNorm,
    });
    const none = { hasQkvBias: false, hasOutputBias: false, hasMlpBias: false, hasQkNorm: false };
    expect(flags(readModelConfig(copyOf('llama')))).toEqual(none);
    expect(flags(readModelConfig(copyOf('qwen2')))).toEqual({ ...none, hasQkvBias: true });
    expect(flags(readModelConfig(copyOf('qwen3')))).toEqual({ ...none, hasQkNorm: true });
    const biased = changed('llama', { attention_bias: true, mlp_bias: true });
    expect(flags(readModelConfig(biased))).toEqual({
      hasQkvBias: true,
      hasOutputBias: true,
      hasMlpBias: true,
      hasQkNorm: false,
    });
  });

  it('derives the head size where config.json is silent', () => {
    expect(readModelConfig(copyOf('qwen2')).headDim).toBe(16);
    expect(readModelConfig(changed('qwen3', { head_dim: undefined })).headDim).toBe(128);
    expect(readModelConfig(changed('llama', { num_key_value_heads: null })).numKvHeads).toBe(4);
  });

  it.each([
    ['another architecture', 'llama', { architectures: ['MixtralForCausalLM'] }, 'MixtralForCausalLM'],
    ['no architecture', 'llama', { architectures: undefined }, 'architecture'],
    ['another activation', 'llama', { hidden_act: 'gelu' }, 'hidden_act'],
    ['a quantized checkpoint', 'llama', { quantization_config: { bits: 4 } }, 'quantization_config'],
    ['a missing size', 'llama', { hidden_size: undefined }, 'hidden_size'],
    ['a size of the wrong type', 'llama', { num_hidden_layers: '3' }, 'num_hidden_layers'],
    ['heads that cannot be grouped', 'llama', { num_key_value_heads: 3 }, 'key/value heads'],
    ['a head size the kernel cannot rotate', 'llama', { head_dim: 24 }, 'head size'],
    [
      'another kind of layer',
      'qwen3',
      { layer_types: ['full_attention', 'linear_attention'] },
      'linear_attention',
    ],
  ])('refuses %s by name', (_, name, changes, named) => {
    const directory = changed(name, changes);
    const error = refusal(() => readModelConfig(directory));
    expect(error.code).toBe('checkpoint_invalid');
    expect(error.message).toContain(join(directory, 'config.json'));
    expect(error.message).toContain(named);
  });

  it('refuses a directory or config.json that is missing, no JSON or a Git LFS pointer', () => {
    const directory = copyOf('llama');
    const path = join(directory, 'config.json');
    expect(refusal(() => readModelConfig(join(directory, 'none'))).message).toContain('does not exist');
    writeFileSync(path, '{"hidden_size": ');
    expect(refusal(() => readModelConfig(directory)).message).toContain('not valid JSON');
    writeFileSync(path, 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 700\n');
    expect(refusal(() => readModelConfig(directory)).message).toContain('Git LFS pointer');
    rmSync(path);
    expect(refusal(() => readModelConfig(directory)).message).toContain(path);
  });
});

describe('RoPE settings', () => {
  const llama3 = {
    factor: 8,
    low_freq_factor: 1,
    high_freq_factor: 4,
    original_max_position_embeddings: 128,
  };

  it('reads both spellings to the same', () => {
    const old = readModelConfig(
      changed('llama', { rope_theta: 5000, rope_scaling: { ...llama3, type: 'llama3' } }),
    );
    const renewed = readModelConfig(
      changed('llama', {
        rope_theta: undefined,
        rope_scaling: undefined,
        rope_parameters: { ...llama3, rope_type: 'llama3', rope_theta: 5000 },
      }),
    );
    expect(old.rope).toEqual(renewed.rope);
    expect(old.rope).toEqual({
      theta: 5000,
      llama3: { factor: 8, lowFreqFactor: 1, highFreqFactor: 4, originalMaxPositionEmbeddings: 128 },
    });
    expect(readModelConfig(changed('qwen2', { rope_theta: undefined })).rope).toEqual({ theta: 10_000 });
  });

  it.each([
    ['yarn', { rope_scaling: { rope_type: 'yarn', factor: 2 } }, 'yarn'],
    ['an old linear type', { rope_scaling: { type: 'linear', factor: 2 } }, 'linear'],
    ['llama3 without its factors', { rope_scaling: { rope_type: 'llama3', factor: 8 } }, 'low_freq_factor'],
    ['a partly rotated head', { partial_rotary_factor: 0.5 }, 'partial_rotary_factor'],
    ['settings per layer type', { rope_parameters: { full_attention: { rope_theta: 1 } } }, 'full_attention'],
  ])('refuses %s by name', (_, changes, named) => {
    const error = refusal(() => readModelConfig(changed('llama', changes)));
    expect(error.code).toBe('checkpoint_invalid');
    expect(error.message).toContain(named);
  });
});

describe('sliding windows', () => {
  const window = (changes: Record<string, unknown>) =>
    readModelConfig(changed('qwen2', changes)).slidingWindowTokens;

  it('counts only where a layer slides', () => {
    expect(window({ sliding_window: 32, use_sliding_window: false })).toBeUndefined();
    expect(window({ sliding_window: 32, use_sliding_window: true })).toBeUndefined();
    expect(readModelConfig(changed('llama', { sliding_window: 32 })).slidingWindowTokens).toBeUndefined();
    const sliding = { layer_types: ['full_attention', 'sliding_attention', 'full_attention'] };
    expect(window({ ...sliding, sliding_window: 32, use_sliding_window: true })).toBe(32);
    expect(
      window({ layer_types: undefined, sliding_window: 32, use_sliding_window: true, max_window_layers: 2 }),
    ).toBe(32);
    expect(
      window({ layer_types: undefined, sliding_window: 32, use_sliding_window: true, max_window_layers: 3 }),
    ).toBeUndefined();
  });

  it('is refused only where sequences may be longer', () => {
    const modelDir = changed('qwen2', {
      layer_types: undefined,
      sliding_window: 32,
      use_sliding_window: true,
      max_window_layers: 0,
    });
    const config = readModelConfig(modelDir);
    const limits = (maxModelLenTokens: number) =>
      engineLimits(config, resolveOptions({ ...DEFAULTS, modelDir, maxModelLenTokens }));
    expect(refusal(() => limits(33)).code).toBe('checkpoint_invalid');
    expect(limits(32).maxModelLenTokens).toBe(32);
  });
});

describe('ids that end a sequence', () => {
  it.each([
    [{ eos_token_id: [5, 6, 5] }, [5, 6]],
    [{ eos_token_id: 7 }, [7]],
    [{ eos_token_id: null }, [2]],
  ])('come from the generation config, else from config.json: %j', (generation, expected) => {
    expect(readModelConfig(changed('qwen2', {}, generation)).eosIds).toEqual(expected);
  });

  it('may be missing, and must be ids', () => {
    const without = changed('qwen2', { eos_token_id: undefined });
    rmSync(join(without, 'generation_config.json'));
    expect(readModelConfig(without).eosIds).toEqual([]);
    expect(
      refusal(() => readModelConfig(changed('qwen2', {}, { eos_token_id: ['</s>'] }))).message,
    ).toContain('eos_token_id');
  });
});
