import type { ModelConfig } from '../checkpoint/model-config.ts';
import { biasOf, layerWeight, WEIGHT, type LayerWeight } from '../weights/weight-names.ts';
import { ONNX_TYPE, type WeightsFile } from '../weights/weights-file.ts';
import { RowAttention } from './row-attention.ts';
import { GraphBuilder, MICROSOFT } from './graph-builder.ts';
import { INPUT, OUTPUT } from './io-names.ts';
import type { GraphSpec } from './graph-spec.ts';
import { addSignals } from './signals.ts';

/** The part of a layer that mixes positions. */
export interface AttentionNodes {
  /** qkv [1, T, (heads + 2 kv heads) · head size] → [1, T, heads · head size]. */
  add(layer: number, qkv: string): string;
}

/**
 * The decoder as an ONNX model. Linear layers run on the packed tokens of all rows, attention runs per row
 * on that row's own key and value buffers ("row-split": the CPU kernel appends several tokens to a past
 * only for one sequence at a time).
 */
export function buildDecoderGraph(
  weights: WeightsFile,
  spec: GraphSpec,
  attentionOf: (graph: GraphBuilder) => AttentionNodes = (graph) =>
    new RowAttention(graph, spec.config, spec.rows),
): Uint8Array {
  const graph = new GraphBuilder(weights);
  // Must be the first output: the binding stops at it (see in-place-run.ts).
  graph.sequenceOutput(graph.node('SequenceEmpty', [], OUTPUT.done, { ints: { dtype: ONNX_TYPE.float32 } }));
  graph.input(INPUT.ids, ONNX_TYPE.int64, [1, 'tokens']);
  graph.input(INPUT.positions, ONNX_TYPE.int64, ['positions']);
  const { config } = spec;
  const attention = attentionOf(graph);
  const layers = new LayerNodes(graph, config);
  let residual = graph.node('Gather', [graph.weight(WEIGHT.embedding), INPUT.ids], 'embedded');
  let delta: string | undefined;
  for (let layer = 0; layer < config.numLayers; layer += 1) {
    const entry = layers.addAndNorm(residual, delta, layerWeight(layer, 'attention_norm'), `l${layer}.in`);
    const qkv = layers.qkv(layer, entry.normed);
    const mixed = layers.linear(layer, 'attention_output', attention.add(layer, qkv));
    const middle = layers.addAndNorm(entry.residual, mixed, layerWeight(layer, 'mlp_norm'), `l${layer}.mid`);
    delta = layers.mlp(layer, middle.normed);
    residual = middle.residual;
  }
  const final = layers.addAndNorm(residual, delta, WEIGHT.finalNorm, 'final');
  graph.node('Gather', [final.normed, INPUT.positions], OUTPUT.hidden, { ints: { axis: 1 } });
  const size = { inputs: config.hiddenSize, outputs: config.vocabSize };
  graph.linear(OUTPUT.hidden, WEIGHT.head, size, OUTPUT.logits);
  graph.output(OUTPUT.hidden, ONNX_TYPE.float32, [1, 'positions', config.hiddenSize]);
  graph.output(OUTPUT.logits, ONNX_TYPE.float32, [1, 'positions', config.vocabSize]);
  addSignals(graph, spec, final.normed);
  return graph.encode();
}

/** The parts of a layer that work on packed tokens. */
class LayerNodes {
  private readonly graph: GraphBuilder;
  private readonly config: ModelConfig;

  constructor(graph: GraphBuilder, config: ModelConfig) {
    this.graph = graph;
    this.config = config;
  }

  /** residual + delta and its RMSNorm, fused where there is something to add. */
  addAndNorm(residual: string, delta: string | undefined, gain: string, prefix: string) {
    const floats = { epsilon: this.config.rmsNormEps };
    const normed = `${prefix}.normed`;
    if (delta === undefined) {
      return { residual, normed: this.norm(residual, gain, normed) };
    }
    const sum = `${prefix}.sum`;
    const inputs = [residual, delta, this.graph.weight(gain)];
    this.graph.nodeWithOutputs('SkipSimplifiedLayerNormalization', inputs, [normed, '', '', sum], {
      domain: MICROSOFT,
      floats,
    });
    return { residual: sum, normed };
  }

  linear(layer: number, name: LayerWeight, x: string): string {
    const weight = layerWeight(layer, name);
    const output = `l${layer}.${name}`;
    const size = this.sizeOf(name);
    if (!this.graph.weights.tensors.has(biasOf(weight))) return this.graph.linear(x, weight, size, output);
    const product = this.graph.linear(x, weight, size, `${output}.product`);
    return this.graph.node('Add', [product, this.graph.weight(biasOf(weight))], output);
  }

  qkv(layer: number, x: string): string {
    const packed = this.linear(layer, 'qkv', x);
    return this.config.hasQkNorm ? this.normalizeHeads(layer, packed) : packed;
  }

  mlp(layer: number, x: string): string {
    const prefix = `l${layer}.mlp`;
    const gateUp = this.linear(layer, 'gate_up', x);
    const [gate, up] = [`${prefix}.gate`, `${prefix}.up`];
    this.graph.nodeWithOutputs('Split', [gateUp], [gate, up], { ints: { axis: -1 } });
    // x · sigmoid(1 · x) is SiLU.
    const activated = this.graph.node('QuickGelu', [gate], `${prefix}.silu`, {
      domain: MICROSOFT,
      floats: { alpha: 1 },
    });
    return this.linear(layer, 'down', this.graph.node('Mul', [activated, up], `${prefix}.product`));
  }

  /** RMSNorm of every query and key head; the kernel's own per-head norm is refused on CPUs. */
  private normalizeHeads(layer: number, qkv: string): string {
    const { graph, config } = this;
    const [q, k, v] = [`l${layer}.q`, `l${layer}.k`, `l${layer}.v`];
    const queryWidth = config.numHeads * config.headDim;
    const kvWidth = config.numKvHeads * config.headDim;
    const widths = graph.int64('qkv_widths', [queryWidth, kvWidth, kvWidth]);
    graph.nodeWithOutputs('Split', [qkv, widths], [q, k, v], { ints: { axis: 2 } });
    const normed = [
      this.normalizePart(q, layer, 'q_norm', config.numHeads),
      this.normalizePart(k, layer, 'k_norm', config.numKvHeads),
    ];
    return graph.node('Concat', [...normed, v], `l${layer}.qkv_normed`, { ints: { axis: 2 } });
  }

  private normalizePart(x: string, layer: number, gain: LayerWeight, heads: number): string {
    const { graph, config } = this;
    // 0 keeps the dimension.
    const byHead = graph.int64(`${gain}.by_head`, [0, 0, heads, config.headDim]);
    const flat = graph.int64(`${gain}.flat`, [0, 0, heads * config.headDim]);
    const split = graph.node('Reshape', [x, byHead], `${x}.heads`);
    const normed = this.norm(split, layerWeight(layer, gain), `${x}.heads_normed`);
    return graph.node('Reshape', [normed, flat], `${x}.normed`);
  }

  private norm(x: string, gain: string, output: string): string {
    const options = { ints: { axis: -1, stash_type: 1 }, floats: { epsilon: this.config.rmsNormEps } };
    return this.graph.node('SimplifiedLayerNormalization', [x, this.graph.weight(gain)], output, options);
  }

  private sizeOf(name: LayerWeight): { inputs: number; outputs: number } {
    const { hiddenSize, intermediateSize, numHeads, numKvHeads, headDim } = this.config;
    switch (name) {
      case 'qkv':
        return { inputs: hiddenSize, outputs: (numHeads + 2 * numKvHeads) * headDim };
      case 'attention_output':
        return { inputs: numHeads * headDim, outputs: hiddenSize };
      case 'gate_up':
        return { inputs: hiddenSize, outputs: 2 * intermediateSize };
      case 'down':
        return { inputs: intermediateSize, outputs: hiddenSize };
      default:
        throw new Error(`${name} is not a linear layer`);
    }
  }
}
