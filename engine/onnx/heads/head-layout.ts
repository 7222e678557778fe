import type { GraphBuilder } from '../graph/graph-builder.ts';
import type { HeadFile } from './head-file.ts';

/** What a head reads of a step, and what its file must hold; both follow from the sizes of its tensors. */
export interface HeadShape {
  /** Width of the vector after the model's final norm. */
  hiddenSize: number;
  /** How many of the largest logits it reads; 0 = none. */
  topK: number;
  usesEmbedding: boolean;
  /** Every tensor by its name in the file. */
  tensors: ReadonlyMap<string, readonly number[]>;
}

/** Nodes of the graph that hold the head's inputs, each [rows, width]; those that the head reads. */
export interface HeadInputs {
  hidden: string;
  topValues?: string;
  embedding?: string;
}

/** A kind of network, by the name that files give in their metadata as `architecture`. */
export interface HeadLayout {
  readonly architecture: string;
  /** @throws TokenrailError `checkpoint_invalid` naming the file and the tensor that does not fit */
  shapeOf(file: HeadFile): HeadShape;
  /**
   * Adds the network's nodes and returns its output, [rows, 1], before the sigmoid.
   * @param weight the stored name of a tensor of the file
   */
  addNodes(
    graph: GraphBuilder,
    file: HeadFile,
    inputs: HeadInputs,
    weight: (tensor: string) => string,
  ): string;
}

/** Shapes of a linear layer as PyTorch stores it. */
export function linearShapes(name: string, outputs: number, inputs: number): [string, number[]][] {
  return [
    [`${name}.weight`, [outputs, inputs]],
    [`${name}.bias`, [outputs]],
  ];
}

/** Shapes of a normalization's gain and offset. */
export function normShapes(name: string, width: number): [string, number[]][] {
  return [
    [`${name}.weight`, [width]],
    [`${name}.bias`, [width]],
  ];
}
