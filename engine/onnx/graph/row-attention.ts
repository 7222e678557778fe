import type { ModelConfig } from '../checkpoint/model-config.ts';
import { WEIGHT } from '../weights/weight-names.ts';
import { ONNX_TYPE } from '../weights/weights-file.ts';
import { MICROSOFT, type GraphBuilder } from './graph-builder.ts';
import { INPUT, pastKey, pastValue, presentKey, presentValue } from './io-names.ts';

/**
 * Attention on private buffers per row: the packed tokens are distributed to slots, each slot attends on its
 * own keys and values, and the results are packed again. Slots without a row repeat packed token 0 on a
 * throw-away buffer; they cost one tiny attention and never reach a linear layer.
 */
export class RowAttention {
  private readonly graph: GraphBuilder;
  private readonly config: ModelConfig;
  private readonly rows: number;
  private readonly lastKeys: string[];
  private readonly totals: string[];

  constructor(graph: GraphBuilder, config: ModelConfig, rows: number) {
    this.graph = graph;
    this.config = config;
    this.rows = rows;
    graph.input(INPUT.lastKey, ONNX_TYPE.int32, [rows]);
    const total = graph.node('Add', [INPUT.lastKey, graph.int32('one', [1])], 'total_length');
    this.lastKeys = this.perRow(INPUT.lastKey);
    this.totals = this.perRow(total);
    if (rows === 1) return;
    graph.input(INPUT.splits, ONNX_TYPE.int64, [rows]);
    graph.input(INPUT.expand, ONNX_TYPE.int64, ['slot_tokens']);
    graph.input(INPUT.collapse, ONNX_TYPE.int64, ['tokens']);
  }

  /** qkv [1, T, (heads + 2 kv heads) · head size] → [1, T, heads · head size]. */
  add(layer: number, qkv: string): string {
    const { graph, rows } = this;
    if (rows === 1) return this.attend(layer, 0, qkv);
    const prefix = `l${layer}.attention`;
    const expanded = graph.node('Gather', [qkv, INPUT.expand], `${prefix}.expanded`, { ints: { axis: 1 } });
    const parts = Array.from({ length: rows }, (_, row) => `${prefix}.qkv.${row}`);
    graph.nodeWithOutputs('Split', [expanded, INPUT.splits], parts, { ints: { axis: 1 } });
    const attended = parts.map((part, row) => this.attend(layer, row, part));
    const joined = graph.node('Concat', attended, `${prefix}.joined`, { ints: { axis: 1 } });
    return graph.node('Gather', [joined, INPUT.collapse], `${prefix}.packed`, { ints: { axis: 1 } });
  }

  private perRow(vector: string): string[] {
    if (this.rows === 1) return [vector];
    const parts = Array.from({ length: this.rows }, (_, row) => `${vector}.${row}`);
    this.graph.nodeWithOutputs('Split', [vector], parts, { ints: { axis: 0 } });
    return parts;
  }

  private attend(layer: number, row: number, qkv: string): string {
    const { graph, config } = this;
    const cacheDims = (length: string) => [1, config.numKvHeads, length, config.headDim];
    const caches = [pastKey(row, layer), pastValue(row, layer)];
    const presents = [presentKey(row, layer), presentValue(row, layer)];
    for (const name of caches) graph.input(name, ONNX_TYPE.float32, cacheDims(`past.${row}`));
    for (const name of presents) graph.output(name, ONNX_TYPE.float32, cacheDims(`present.${row}`));
    const lengths = [this.lastKeys[row] ?? '', this.totals[row] ?? ''];
    const tables = [graph.weight(WEIGHT.cos), graph.weight(WEIGHT.sin)];
    const output = `l${layer}.attended.${row}`;
    graph.nodeWithOutputs(
      'GroupQueryAttention',
      [qkv, '', '', ...caches, ...lengths, ...tables],
      [output, ...presents],
      {
        domain: MICROSOFT,
        ints: { num_heads: config.numHeads, kv_num_heads: config.numKvHeads, do_rotary: 1 },
      },
    );
    return output;
  }
}
