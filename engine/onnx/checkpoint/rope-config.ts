import { checkpointError } from './checkpoint-error.ts';
import type { JsonFields } from './json-file.ts';
import type { RopeConfig } from './model-config.ts';

const DEFAULT_THETA = 10_000;

/**
 * Rotary embedding settings in either spelling: `rope_theta` with `rope_scaling` (transformers 4) or
 * `rope_parameters` (transformers 5). Where both exist, `rope_parameters` wins, as it does there.
 */
export function readRope(config: JsonFields): RopeConfig {
  if (config.number('partial_rotary_factor', 1) !== 1) {
    throw checkpointError(`${config.path}: "partial_rotary_factor" other than 1 is not supported`);
  }
  const settings = config.object('rope_parameters') ?? config.object('rope_scaling');
  const outerTheta = config.number('rope_theta', DEFAULT_THETA);
  if (settings === undefined) return { theta: outerTheta };
  const theta = settings.number('rope_theta', outerTheta);
  const type = settings.value('rope_type') ?? settings.value('type') ?? 'default';
  if (settings.number('partial_rotary_factor', 1) !== 1) {
    throw checkpointError(`${settings.path}: "partial_rotary_factor" other than 1 is not supported`);
  }
  switch (type) {
    case 'default':
      refuseNested(settings);
      return { theta };
    case 'llama3':
      return { theta, llama3: readLlama3(settings, config) };
    default:
      throw checkpointError(
        `${settings.path}: RoPE type ${JSON.stringify(type)} is not supported; supported are "default" and "llama3"`,
      );
  }
}

function readLlama3(settings: JsonFields, config: JsonFields): NonNullable<RopeConfig['llama3']> {
  const scaling = {
    factor: settings.number('factor'),
    lowFreqFactor: settings.number('low_freq_factor'),
    highFreqFactor: settings.number('high_freq_factor'),
    originalMaxPositionEmbeddings: settings.count(
      'original_max_position_embeddings',
      config.count('max_position_embeddings'),
    ),
  };
  if (!(scaling.factor >= 1)) throw settings.wrong('factor', 'a number ≥ 1', scaling.factor);
  if (!(scaling.lowFreqFactor > 0 && scaling.highFreqFactor > scaling.lowFreqFactor)) {
    throw settings.wrong(
      'high_freq_factor',
      'greater than "low_freq_factor", which must be > 0',
      scaling.highFreqFactor,
    );
  }
  return scaling;
}

/** Models with a RoPE per layer type nest objects here; treating them as the default would be silently wrong. */
function refuseNested(settings: JsonFields): void {
  const nested = settings.keys().find((key) => typeof settings.value(key) === 'object');
  if (nested !== undefined)
    throw checkpointError(`${settings.path}: RoPE settings per layer type ("${nested}") are not supported`);
}
