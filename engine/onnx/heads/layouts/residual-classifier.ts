import { MICROSOFT, type GraphBuilder } from '../../graph/graph-builder.ts';
import type { HeadFile } from '../head-file.ts';
import {
  linearShapes,
  normShapes,
  type HeadInputs,
  type HeadLayout,
  type HeadShape,
} from '../head-layout.ts';

const EPSILON = 1e-5;
const block = (index: number): string => `backbone.blocks.${index}`;

/**
 * The default network of R2R (arXiv 2505.21600) with the tensor names of its published state dict, of any width:
 * hidden vector, embedding of the sampled token and a projection of the largest logits, joined and projected;
 * then residual blocks of LayerNorm and a GELU layer, a last LayerNorm and a linear output.
 */
export const residualClassifier: HeadLayout = {
  architecture: 'HiddenStatesTokenLMHeadLogitsClassifier',
  shapeOf,
  addNodes: (graph, file, inputs, weight) => {
    const nodes = new ClassifierNodes(graph, file.number('layer_norm_eps', EPSILON), weight);
    let x = nodes.join(inputs);
    for (let index = 0; file.has(`${block(index)}.layer_norm.weight`); index += 1) {
      x = nodes.block(x, index, file.has(`${block(index)}.dim_change.weight`));
    }
    const normed = nodes.norm(x, 'backbone.output_layer.0', 'out.normed');
    return nodes.linear(normed, 'backbone.output_layer.1', 'logit');
  },
};

function shapeOf(file: HeadFile): HeadShape {
  const [hiddenSize = 0, topK = 0] = file.sizes('logits_projection.weight', 2);
  const [joined = 0] = file.sizes('combined_projection.weight', 2);
  const [first = 0] = file.sizes('backbone.input_projection.weight', 2);
  const shapes = [
    ...linearShapes('logits_projection', hiddenSize, topK),
    ...linearShapes('combined_projection', joined, 3 * hiddenSize),
    ...linearShapes('backbone.input_projection', first, joined),
  ];
  let width = first;
  for (let index = 0; file.has(`${block(index)}.layer_norm.weight`); index += 1) {
    const name = block(index);
    const [inner = 0] = file.sizes(`${name}.mlp.0.weight`, 2);
    const [next = 0] = file.sizes(`${name}.mlp.3.weight`, 2);
    shapes.push(
      ...normShapes(`${name}.layer_norm`, width),
      ...linearShapes(`${name}.mlp.0`, inner, width),
      ...linearShapes(`${name}.mlp.3`, next, inner),
      ...(next === width ? [] : linearShapes(`${name}.dim_change`, next, width)),
    );
    width = next;
  }
  shapes.push(...normShapes('backbone.output_layer.0', width));
  shapes.push(...linearShapes('backbone.output_layer.1', 1, width));
  return { hiddenSize, topK, usesEmbedding: true, tensors: new Map(shapes) };
}

class ClassifierNodes {
  private readonly graph: GraphBuilder;
  private readonly epsilon: number;
  private readonly weight: (tensor: string) => string;

  constructor(graph: GraphBuilder, epsilon: number, weight: (tensor: string) => string) {
    this.graph = graph;
    this.epsilon = epsilon;
    this.weight = weight;
  }

  join({ hidden, embedding = '', topValues = '' }: HeadInputs): string {
    const logits = this.linear(topValues, 'logits_projection', 'projected_logits');
    const joined = this.graph.node('Concat', [hidden, embedding, logits], 'joined', { ints: { axis: 1 } });
    // Two linear layers without an activation between them, as published.
    return this.linear(
      this.linear(joined, 'combined_projection', 'combined'),
      'backbone.input_projection',
      'in',
    );
  }

  block(x: string, index: number, changesWidth: boolean): string {
    const name = block(index);
    const normed = this.norm(x, `${name}.layer_norm`, `b${index}.normed`);
    const inner = this.linear(normed, `${name}.mlp.0`, `b${index}.inner`);
    // The runtime's own GELU is the one with erf; ONNX has it only from opset 20 on.
    const active = this.graph.node('Gelu', [inner], `b${index}.active`, { domain: MICROSOFT });
    const change = this.linear(active, `${name}.mlp.3`, `b${index}.change`);
    const kept = changesWidth ? this.linear(x, `${name}.dim_change`, `b${index}.kept`) : x;
    return this.graph.node('Add', [kept, change], `b${index}.out`);
  }

  norm(x: string, name: string, output: string): string {
    const { graph, weight } = this;
    const inputs = [x, graph.weight(weight(`${name}.weight`)), graph.weight(weight(`${name}.bias`))];
    return graph.node('LayerNormalization', inputs, output, {
      ints: { axis: -1 },
      floats: { epsilon: this.epsilon },
    });
  }

  linear(x: string, name: string, output: string): string {
    return this.graph.gemm(x, this.weight(`${name}.weight`), this.weight(`${name}.bias`), output);
  }
}
