import type { ModelConfig } from '../../engine/onnx/checkpoint/model-config.ts';
import type { AttentionNodes } from '../../engine/onnx/graph/decoder-graph.ts';
import { MICROSOFT, type GraphBuilder } from '../../engine/onnx/graph/graph-builder.ts';
import { INPUT, pastKey, pastValue, presentKey, presentValue } from '../../engine/onnx/graph/io-names.ts';
import { WEIGHT } from '../../engine/onnx/weights/weight-names.ts';
import { ONNX_TYPE } from '../../engine/onnx/weights/weights-file.ts';

export const TOTAL_LENGTH = 'total_length';

/**
 * Attention as an ordinary batched graph has it: one kernel call per layer over one buffer [rows, kvHeads,
 * length, headDim], one new token per row. The yardstick for attention that is split by rows.
 */
export class BatchedAttention implements AttentionNodes {
  private readonly graph: GraphBuilder;
  private readonly config: ModelConfig;
  private readonly rows: number;

  constructor(graph: GraphBuilder, config: ModelConfig, rows: number) {
    this.graph = graph;
    this.config = config;
    this.rows = rows;
    graph.input(INPUT.lastKey, ONNX_TYPE.int32, [rows]);
    graph.input(TOTAL_LENGTH, ONNX_TYPE.int32, [1]);
  }

  add(layer: number, qkv: string): string {
    const { graph, config, rows } = this;
    const queryWidth = config.numHeads * config.headDim;
    const width = queryWidth + 2 * config.numKvHeads * config.headDim;
    const cacheDims = [rows, config.numKvHeads, 'past', config.headDim];
    const caches = [pastKey(0, layer), pastValue(0, layer)];
    const presents = [presentKey(0, layer), presentValue(0, layer)];
    for (const name of caches) graph.input(name, ONNX_TYPE.float32, cacheDims);
    for (const name of presents) graph.output(name, ONNX_TYPE.float32, cacheDims);
    const byRow = graph.node('Reshape', [qkv, graph.int64('by_row', [rows, 1, width])], `l${layer}.by_row`);
    const inputs = [
      byRow,
      '',
      '',
      ...caches,
      INPUT.lastKey,
      TOTAL_LENGTH,
      graph.weight(WEIGHT.cos),
      graph.weight(WEIGHT.sin),
    ];
    graph.nodeWithOutputs('GroupQueryAttention', inputs, [`l${layer}.attended`, ...presents], {
      domain: MICROSOFT,
      ints: { num_heads: config.numHeads, kv_num_heads: config.numKvHeads, do_rotary: 1 },
    });
    const packed = graph.int64('packed', [1, rows, queryWidth]);
    return graph.node('Reshape', [`l${layer}.attended`, packed], `l${layer}.packed`);
  }
}
