import { basename } from 'node:path';
import { scalesOf } from '../weights/weight-names.ts';
import { ONNX_TYPE, type WeightsFile } from '../weights/weights-file.ts';
import { encodeModel } from './onnx-schema.ts';

/** Numbers of AttributeProto.AttributeType. */
const ATTRIBUTE_TYPE = { float: 1, int: 2, ints: 7 } as const;
const EXTERNAL = 1;
const IR_VERSION = 8;
const OPSET = 17;
export const MICROSOFT = 'com.microsoft';

export interface NodeOptions {
  /** '' is ONNX's own domain. */
  domain?: typeof MICROSOFT;
  ints?: Readonly<Record<string, number>>;
  floats?: Readonly<Record<string, number>>;
  lists?: Readonly<Record<string, readonly number[]>>;
}

export type Dimension = number | string;

/** Collects the nodes of one graph whose large weights lie in a shared file. */
export class GraphBuilder {
  readonly weights: WeightsFile;
  private readonly nodes: object[] = [];
  private readonly inputs: object[] = [];
  private readonly outputs: object[] = [];
  private readonly initializers = new Map<string, object>();

  constructor(weights: WeightsFile) {
    this.weights = weights;
  }

  /** Adds a node with one output and returns the output's name. An empty input name means "not given". */
  node(opType: string, inputs: readonly string[], output: string, options: NodeOptions = {}): string {
    this.nodeWithOutputs(opType, inputs, [output], options);
    return output;
  }

  nodeWithOutputs(
    opType: string,
    inputs: readonly string[],
    outputs: readonly string[],
    options: NodeOptions = {},
  ): void {
    const ints = Object.entries(options.ints ?? {}).map(([name, i]) => ({
      name,
      i,
      type: ATTRIBUTE_TYPE.int,
    }));
    const floats = Object.entries(options.floats ?? {}).map(([name, f]) => ({
      name,
      f,
      type: ATTRIBUTE_TYPE.float,
    }));
    const lists = Object.entries(options.lists ?? {}).map(([name, values]) => ({
      name,
      ints: values,
      type: ATTRIBUTE_TYPE.ints,
    }));
    const name = outputs.find((output) => output !== '') ?? opType;
    this.nodes.push({
      opType,
      name,
      input: inputs,
      output: outputs,
      domain: options.domain ?? '',
      attribute: [...ints, ...floats, ...lists],
    });
  }

  /** Refers to a weight of the shared file. */
  weight(name: string): string {
    if (this.initializers.has(name)) return name;
    const { dataType, dims, offset, lengthBytes } = this.weights.get(name);
    const externalData = [
      { key: 'location', value: basename(this.weights.path) },
      { key: 'offset', value: String(offset) },
      { key: 'length', value: String(lengthBytes) },
    ];
    this.initializers.set(name, { name, dataType, dims, externalData, dataLocation: EXTERNAL });
    return name;
  }

  /** A small int64 vector inside the model. */
  int64(name: string, values: readonly number[]): string {
    const rawData = new Uint8Array(BigInt64Array.from(values, BigInt).buffer);
    this.initializers.set(name, { name, dataType: ONNX_TYPE.int64, dims: [values.length], rawData });
    return name;
  }

  int32(name: string, values: readonly number[]): string {
    const rawData = new Uint8Array(Int32Array.from(values).buffer);
    this.initializers.set(name, { name, dataType: ONNX_TYPE.int32, dims: [values.length], rawData });
    return name;
  }

  /** x · Wᵀ + b for a matrix x, with a weight of the file as it is stored: [outputs, inputs]. */
  gemm(x: string, weight: string, bias: string, output: string): string {
    const inputs = [x, this.weight(weight), this.weight(bias)];
    return this.node('Gemm', inputs, output, { ints: { transB: 1 } });
  }

  /** x · Wᵀ with a weight written by `writeWeights`, float32 or int4, whichever the file holds. */
  linear(x: string, weight: string, size: { inputs: number; outputs: number }, output: string): string {
    if (!this.weights.tensors.has(scalesOf(weight)))
      return this.node('MatMul', [x, this.weight(weight)], output);
    return this.node('MatMulNBits', [x, this.weight(weight), this.weight(scalesOf(weight))], output, {
      domain: MICROSOFT,
      // accuracy_level 4: int8 activations, the only fast path on CPUs.
      ints: { K: size.inputs, N: size.outputs, bits: 4, block_size: 32, accuracy_level: 4 },
    });
  }

  input(name: string, elemType: number, dims: readonly Dimension[]): string {
    this.inputs.push(valueInfo(name, elemType, dims));
    return name;
  }

  output(name: string, elemType: number, dims: readonly Dimension[]): void {
    this.outputs.push(valueInfo(name, elemType, dims));
  }

  /** Declares an output that is a sequence of float32 tensors; see in-place-run.ts for why. */
  sequenceOutput(name: string): void {
    const elemType = { tensorType: { elemType: ONNX_TYPE.float32 } };
    this.outputs.push({ name, type: { sequenceType: { elemType } } });
  }

  /** @param name of the graph, for tools that show it */
  encode(name = 'decoder'): Uint8Array {
    return encodeModel({
      irVersion: IR_VERSION,
      producerName: 'tokenrail',
      opsetImport: [
        { domain: '', version: OPSET },
        { domain: MICROSOFT, version: 1 },
      ],
      graph: {
        name,
        node: this.nodes,
        input: this.inputs,
        output: this.outputs,
        initializer: [...this.initializers.values()],
      },
    });
  }
}

function valueInfo(name: string, elemType: number, dims: readonly Dimension[]): object {
  const dim = dims.map((size) => (typeof size === 'number' ? { dimValue: size } : { dimParam: size }));
  return { name, type: { tensorType: { elemType, shape: { dim } } } };
}
