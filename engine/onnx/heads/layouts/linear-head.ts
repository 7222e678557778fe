import type { HeadLayout } from '../head-layout.ts';

/**
 * w · hidden + b: the deferral head of Co-LLM (arXiv 2403.03870), whose w is the row of the head that scores the
 * extra token of a base trained with one.
 */
export const linearHead: HeadLayout = {
  architecture: 'LinearHead',
  shapeOf: (file) => {
    const [, hiddenSize = 0] = file.sizes('weight', 2);
    const tensors = new Map([
      ['weight', [1, hiddenSize]],
      ['bias', [1]],
    ]);
    return { hiddenSize, topK: 0, usesEmbedding: false, tensors };
  },
  addNodes: (graph, _file, { hidden }, weight) =>
    graph.gemm(hidden, weight('weight'), weight('bias'), 'logit'),
};
