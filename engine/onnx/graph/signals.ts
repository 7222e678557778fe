import { ONNX_TYPE } from '../weights/weights-file.ts';
import type { GraphSpec } from './graph-spec.ts';
import type { GraphBuilder } from './graph-builder.ts';
import { OUTPUT } from './io-names.ts';

/**
 * Signals from the raw logits x: p = softmax(x), lse = max x − ln max p, H = lse − Σ p·x, and the top k.
 * (`ReduceLogSumExp` would give lse as well, three times slower.) Any NaN or infinity among a row's logits makes
 * Σ p·x, and so H, non-finite: that is how bad rows are found. It is not enough with int4 layers, whose
 * rounding to int8 turns a NaN into some number, the head's input included; hence the sums of the vectors
 * before the head, of every token.
 *
 * @param final the vectors after the final norm, [1, T, hidden]
 */
export function addSignals(graph: GraphBuilder, spec: GraphSpec, final: string): void {
  const { logits } = OUTPUT;
  const lastAxis = { lists: { axes: [-1] } };
  const probabilities = graph.node('Softmax', [logits], 'probabilities', { ints: { axis: -1 } });
  const maxLogit = graph.node('ReduceMax', [logits], 'max_logit', lastAxis);
  const maxProbability = graph.node('ReduceMax', [probabilities], 'max_probability', lastAxis);
  const logMaxProbability = graph.node('Log', [maxProbability], 'log_max_probability');
  graph.node('Sub', [maxLogit, logMaxProbability], OUTPUT.logSumExp);
  const products = graph.node('Mul', [probabilities, logits], 'probability_times_logit');
  const axes = graph.int64('last_axis', [-1]);
  graph.node('ReduceSum', [final, axes], OUTPUT.tokenSums);
  graph.output(OUTPUT.tokenSums, ONNX_TYPE.float32, [1, 'tokens', 1]);
  const expected = graph.node('ReduceSum', [products, axes], 'expected_logit');
  graph.node('Sub', [OUTPUT.logSumExp, expected], OUTPUT.entropy);
  for (const name of [OUTPUT.logSumExp, OUTPUT.entropy])
    graph.output(name, ONNX_TYPE.float32, [1, 'positions', 1]);
  addTopK(graph, spec, axes);
  if (spec.sampledVocab < spec.config.vocabSize) addPaddedMass(graph, spec, probabilities, axes);
}

function addTopK(graph: GraphBuilder, spec: GraphSpec, axes: string): void {
  let candidates: string = OUTPUT.logits;
  if (spec.sampledVocab < spec.config.vocabSize) {
    const bounds = [graph.int64('first_id', [0]), graph.int64('first_padded_id', [spec.sampledVocab])];
    candidates = graph.node('Slice', [OUTPUT.logits, ...bounds, axes], 'sampled_logits');
  }
  const inputs = [candidates, graph.int64('top_k', [spec.topK])];
  const outputs = [OUTPUT.topValues, OUTPUT.topIds];
  graph.nodeWithOutputs('TopK', inputs, outputs, { ints: { axis: -1, largest: 1, sorted: 1 } });
  graph.output(OUTPUT.topValues, ONNX_TYPE.float32, [1, 'positions', spec.topK]);
  graph.output(OUTPUT.topIds, ONNX_TYPE.int64, [1, 'positions', spec.topK]);
}

function addPaddedMass(graph: GraphBuilder, spec: GraphSpec, probabilities: string, axes: string): void {
  const bounds = [
    graph.int64('first_padded_id', [spec.sampledVocab]),
    graph.int64('width', [spec.config.vocabSize]),
  ];
  const padded = graph.node('Slice', [probabilities, ...bounds, axes], 'padded_probabilities');
  graph.node('ReduceSum', [padded, axes], OUTPUT.paddedMass);
  graph.output(OUTPUT.paddedMass, ONNX_TYPE.float32, [1, 'positions', 1]);
}
