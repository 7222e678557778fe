import protobuf from 'protobufjs/light.js';

/** The part of onnx.proto (IR version 8) that the graphs use, as a protobufjs descriptor. */
const SCHEMA: protobuf.INamespace = {
  nested: {
    ModelProto: {
      fields: {
        irVersion: { type: 'int64', id: 1 },
        producerName: { type: 'string', id: 2 },
        graph: { type: 'GraphProto', id: 7 },
        opsetImport: { rule: 'repeated', type: 'OperatorSetIdProto', id: 8 },
      },
    },
    OperatorSetIdProto: { fields: { domain: { type: 'string', id: 1 }, version: { type: 'int64', id: 2 } } },
    GraphProto: {
      fields: {
        node: { rule: 'repeated', type: 'NodeProto', id: 1 },
        name: { type: 'string', id: 2 },
        initializer: { rule: 'repeated', type: 'TensorProto', id: 5 },
        input: { rule: 'repeated', type: 'ValueInfoProto', id: 11 },
        output: { rule: 'repeated', type: 'ValueInfoProto', id: 12 },
      },
    },
    NodeProto: {
      fields: {
        input: { rule: 'repeated', type: 'string', id: 1 },
        output: { rule: 'repeated', type: 'string', id: 2 },
        name: { type: 'string', id: 3 },
        opType: { type: 'string', id: 4 },
        attribute: { rule: 'repeated', type: 'AttributeProto', id: 5 },
        domain: { type: 'string', id: 7 },
      },
    },
    AttributeProto: {
      fields: {
        name: { type: 'string', id: 1 },
        f: { type: 'float', id: 2 },
        i: { type: 'int64', id: 3 },
        ints: { rule: 'repeated', type: 'int64', id: 8 },
        type: { type: 'int32', id: 20 },
      },
    },
    TensorProto: {
      fields: {
        dims: { rule: 'repeated', type: 'int64', id: 1 },
        dataType: { type: 'int32', id: 2 },
        name: { type: 'string', id: 8 },
        rawData: { type: 'bytes', id: 9 },
        externalData: { rule: 'repeated', type: 'StringStringEntryProto', id: 13 },
        dataLocation: { type: 'int32', id: 14 },
      },
    },
    StringStringEntryProto: { fields: { key: { type: 'string', id: 1 }, value: { type: 'string', id: 2 } } },
    ValueInfoProto: { fields: { name: { type: 'string', id: 1 }, type: { type: 'TypeProto', id: 2 } } },
    TypeProto: {
      fields: {
        tensorType: { type: 'TensorTypeProto', id: 1 },
        sequenceType: { type: 'SequenceTypeProto', id: 4 },
      },
    },
    TensorTypeProto: {
      fields: { elemType: { type: 'int32', id: 1 }, shape: { type: 'TensorShapeProto', id: 2 } },
    },
    SequenceTypeProto: { fields: { elemType: { type: 'TypeProto', id: 1 } } },
    TensorShapeProto: { fields: { dim: { rule: 'repeated', type: 'DimensionProto', id: 1 } } },
    DimensionProto: { fields: { dimValue: { type: 'int64', id: 1 }, dimParam: { type: 'string', id: 2 } } },
  },
};

let modelProto: protobuf.Type | undefined;

/** Encodes a ModelProto given in the descriptor's camel-case field names. */
export function encodeModel(model: Record<string, unknown>): Uint8Array {
  modelProto ??= protobuf.Root.fromJSON(SCHEMA).lookupType('ModelProto');
  const problem = modelProto.verify(model);
  if (problem !== null) throw new Error(`ill-formed ONNX model: ${problem}`);
  return modelProto.encode(model).finish();
}
