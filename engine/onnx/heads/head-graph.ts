import { GraphBuilder } from '../graph/graph-builder.ts';
import { WEIGHT } from '../weights/weight-names.ts';
import { ONNX_TYPE, type WeightsFile } from '../weights/weights-file.ts';
import type { HeadFile } from './head-file.ts';
import type { HeadLayout, HeadShape } from './head-layout.ts';

/** Names of a head graph's inputs and output; rows are the positions that the step sampled. */
export const HEAD_IO = {
  /** [rows, hidden]. */
  hidden: 'hidden',
  /** [rows, width of the model's top-k], descending. */
  topValues: 'top_values',
  /** int64 [rows]: ids of the sampled tokens. */
  sampled: 'sampled',
  /** [rows, 1], after the sigmoid. */
  score: 'score',
} as const;

/**
 * A head as an ONNX model over the model's own weights file: the embedding of the sampled token is gathered from
 * the model's matrix, and the largest logits are cut from its top-k, so nothing passes through JavaScript.
 */
export function buildHeadGraph(
  weights: WeightsFile,
  head: { layout: HeadLayout; file: HeadFile; shape: HeadShape },
  topKWidth: number,
  weight: (tensor: string) => string,
): Uint8Array {
  const { layout, file, shape } = head;
  const graph = new GraphBuilder(weights);
  const hidden = graph.input(HEAD_IO.hidden, ONNX_TYPE.float32, ['rows', shape.hiddenSize]);
  const inputs = {
    hidden,
    ...(shape.topK === 0 ? {} : { topValues: addTopValues(graph, shape.topK, topKWidth) }),
    ...(shape.usesEmbedding ? { embedding: addEmbedding(graph) } : {}),
  };
  const logit = layout.addNodes(graph, file, inputs, weight);
  graph.node('Sigmoid', [logit], HEAD_IO.score);
  graph.output(HEAD_IO.score, ONNX_TYPE.float32, ['rows', 1]);
  return graph.encode('head');
}

function addTopValues(graph: GraphBuilder, topK: number, width: number): string {
  graph.input(HEAD_IO.topValues, ONNX_TYPE.float32, ['rows', width]);
  const bounds = [graph.int64('first', [0]), graph.int64('end', [topK]), graph.int64('axis', [1])];
  return graph.node('Slice', [HEAD_IO.topValues, ...bounds], 'largest_logits');
}

function addEmbedding(graph: GraphBuilder): string {
  graph.input(HEAD_IO.sampled, ONNX_TYPE.int64, ['rows']);
  return graph.node('Gather', [graph.weight(WEIGHT.embedding), HEAD_IO.sampled], 'sampled_embedding');
}
