/** Names under which the weights file holds what the graphs use. */
export const WEIGHT = {
  embedding: 'embedding',
  finalNorm: 'final_norm',
  head: 'head',
  cos: 'rope.cos',
  sin: 'rope.sin',
} as const;

/** Names of one layer's weights. */
export function layerWeight(layer: number, name: LayerWeight): string {
  return `layer.${layer}.${name}`;
}

export type LayerWeight =
  'attention_norm' | 'qkv' | 'q_norm' | 'k_norm' | 'attention_output' | 'mlp_norm' | 'gate_up' | 'down';

export const scalesOf = (linear: string): string => `${linear}.scales`;
export const biasOf = (linear: string): string => `${linear}.bias`;
