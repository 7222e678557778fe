import { linearShapes, normShapes, type HeadLayout } from '../head-layout.ts';

const EPSILON = 1e-5;

/**
 * The confidence network of CITER (arXiv 2502.01976): Linear, BatchNorm, ReLU, Linear, then a linear head. The
 * batch norm uses the mean and variance of training, so a row's score does not depend on the rows beside it.
 */
export const batchNormMlp: HeadLayout = {
  architecture: 'BatchNormMlp',
  shapeOf: (file) => {
    const [inner = 0, hiddenSize = 0] = file.sizes('fc1.weight', 2);
    const [outer = 0] = file.sizes('fc2.weight', 2);
    const tensors = new Map([
      ...linearShapes('fc1', inner, hiddenSize),
      ...normShapes('bn', inner),
      ['bn.running_mean', [inner]] as const,
      ['bn.running_var', [inner]] as const,
      ...linearShapes('fc2', outer, inner),
      ...linearShapes('head', 1, outer),
    ]);
    return { hiddenSize, topK: 0, usesEmbedding: false, tensors };
  },
  addNodes: (graph, file, { hidden }, weight) => {
    const inner = graph.gemm(hidden, weight('fc1.weight'), weight('fc1.bias'), 'inner');
    const statistics = ['bn.weight', 'bn.bias', 'bn.running_mean', 'bn.running_var'];
    const inputs = [inner, ...statistics.map((tensor) => graph.weight(weight(tensor)))];
    const normed = graph.node('BatchNormalization', inputs, 'normed', {
      floats: { epsilon: file.number('batch_norm_eps', EPSILON) },
    });
    const active = graph.node('Relu', [normed], 'active');
    const outer = graph.gemm(active, weight('fc2.weight'), weight('fc2.bias'), 'outer');
    return graph.gemm(outer, weight('head.weight'), weight('head.bias'), 'logit');
  },
};
