import { INPUT, presentKey, presentValue } from '../graph/io-names.ts';
import { stepNowMs } from '../step-timer.ts';
import type { GraphSlots } from './graph-slots.ts';
import { runInPlace } from './in-place-run.ts';
import { Int64Scratch } from './int64-scratch.ts';
import type { Fetches, RawTensor, RunResult } from './ort-session.ts';
import type { SequenceCache } from './sequence-cache.ts';
import type { StepOutputs } from './step-outputs.ts';

/** `in-place`: keys and values are appended where they lie. `copied`: fetched and written back, slower. */
export type KvPath = 'in-place' | 'copied';

export interface RunnerRow {
  cache: SequenceCache;
  past: number;
  tokens: readonly number[];
  /** Positions whose signals are computed. `all` is for tests and offline scoring. */
  wanted: 'none' | 'last' | 'all';
}

export interface RunnerResult {
  /** Holds until the next run. */
  outputs: StepOutputs;
  /** Per row, the index of its first position in `outputs`; -1 where nothing was wanted. */
  firstPositions: readonly number[];
  runMs: number;
}

/** Runs ragged steps on the smallest graph of the ladder that holds the rows. */
export class RaggedRunner {
  kvPath: KvPath;
  private readonly ladder: readonly GraphSlots[];
  private readonly outputs: StepOutputs;
  private readonly ids = new Int64Scratch([1]);
  private readonly positions = new Int64Scratch();
  private readonly splits = new Int64Scratch();
  private readonly expand = new Int64Scratch();
  private readonly collapse = new Int64Scratch();
  private readonly lastKeys = new Map<number, RawTensor>();

  /** @param ladder graphs by ascending number of rows */
  constructor(ladder: readonly GraphSlots[], outputs: StepOutputs, kvPath: KvPath) {
    this.ladder = ladder;
    this.outputs = outputs;
    this.kvPath = kvPath;
  }

  /**
   * @param rows distinct caches, each with at least one token
   * @param minRows take a graph of at least this many rows; default: what the rows need
   */
  run(rows: readonly RunnerRow[], minRows = rows.length): RunnerResult {
    const graph = this.ladder.find((candidate) => candidate.rows >= Math.max(rows.length, minRows));
    if (graph === undefined) throw new Error(`no graph for ${rows.length} rows`);
    const slots = graph.assign(rows.map((row) => row.cache));
    const tokens = this.feedTokens(graph, rows);
    this.feedLengths(graph, rows, slots);
    if (graph.rows > 1) this.feedSlots(graph, rows, slots);
    const { count, firstPositions } = this.feedPositions(graph, rows);
    const runMs = this.execute(graph, rows, slots, this.outputs.fetches(count, tokens));
    return { outputs: this.outputs, firstPositions, runMs };
  }

  forget(cache: SequenceCache): void {
    for (const graph of this.ladder) graph.forget(cache);
  }

  close(): void {
    for (const graph of this.ladder) graph.session.dispose();
  }

  private feedTokens(graph: GraphSlots, rows: readonly RunnerRow[]): number {
    let total = 0;
    for (const row of rows) total += row.tokens.length;
    graph.feeds[INPUT.ids] = this.ids.tensor(total);
    let at = 0;
    for (const row of rows) for (const token of row.tokens) this.ids.set(at++, token);
    return total;
  }

  private feedLengths(graph: GraphSlots, rows: readonly RunnerRow[], slots: readonly number[]): void {
    let tensor = this.lastKeys.get(graph.rows);
    if (tensor === undefined) {
      tensor = { type: 'int32', dims: [graph.rows], data: new Int32Array(graph.rows), location: 'cpu' };
      this.lastKeys.set(graph.rows, tensor);
      graph.feeds[INPUT.lastKey] = tensor;
    }
    const lengths = tensor.data as Int32Array;
    lengths.fill(0);
    for (const [index, row] of rows.entries()) lengths[slots[index] ?? 0] = row.past + row.tokens.length - 1;
  }

  /** Where the packed tokens go among the slots, and back. Idle slots get packed token 0. */
  private feedSlots(graph: GraphSlots, rows: readonly RunnerRow[], slots: readonly number[]): void {
    const counts = new Array<number>(graph.rows).fill(1);
    let slotTokens = graph.rows - rows.length;
    let tokens = 0;
    for (const [index, row] of rows.entries()) {
      counts[slots[index] ?? 0] = row.tokens.length;
      slotTokens += row.tokens.length;
      tokens += row.tokens.length;
    }
    graph.feeds[INPUT.splits] = this.splits.tensor(graph.rows);
    graph.feeds[INPUT.expand] = this.expand.tensor(slotTokens);
    graph.feeds[INPUT.collapse] = this.collapse.tensor(tokens);
    const starts: number[] = [];
    let at = 0;
    for (let slot = 0; slot < graph.rows; slot += 1) {
      this.splits.set(slot, counts[slot] ?? 1);
      this.expand.set(at, 0);
      starts.push(at);
      at += counts[slot] ?? 1;
    }
    let packed = 0;
    for (const [index, row] of rows.entries()) {
      const start = starts[slots[index] ?? 0] ?? 0;
      for (let i = 0; i < row.tokens.length; i += 1, packed += 1) {
        this.expand.set(start + i, packed);
        this.collapse.set(packed, start + i);
      }
    }
  }

  private feedPositions(
    graph: GraphSlots,
    rows: readonly RunnerRow[],
  ): { count: number; firstPositions: number[] } {
    const wanted: number[] = [];
    const firstPositions: number[] = [];
    let end = 0;
    for (const row of rows) {
      end += row.tokens.length;
      firstPositions.push(row.wanted === 'none' ? -1 : wanted.length);
      const first = row.wanted === 'all' ? end - row.tokens.length : row.wanted === 'last' ? end - 1 : end;
      for (let position = first; position < end; position += 1) wanted.push(position);
    }
    // The head cannot run on nothing; one position costs little beside a chunk of a prompt.
    if (wanted.length === 0) wanted.push(0);
    graph.feeds[INPUT.positions] = this.positions.tensor(wanted.length);
    for (const [index, position] of wanted.entries()) this.positions.set(index, position);
    return { count: wanted.length, firstPositions };
  }

  private execute(
    graph: GraphSlots,
    rows: readonly RunnerRow[],
    slots: readonly number[],
    outputs: Readonly<Fetches>,
  ): number {
    if (this.kvPath === 'in-place') {
      const fetches = Object.assign(graph.fetches, outputs);
      const startMs = stepNowMs();
      if (!runInPlace(graph.session, graph.feeds, fetches)) throw new Error('the runtime copied its outputs');
      return stepNowMs() - startMs;
    }
    const fetches: Fetches = {};
    for (const name of Object.keys(outputs)) fetches[name] = null;
    for (const slot of slots) nameCaches(fetches, slot, rows[0]?.cache.keys.length ?? 0);
    const startMs = stepNowMs();
    const result = graph.session.run(graph.feeds, fetches);
    const runMs = stepNowMs() - startMs;
    this.outputs.copyFrom(result);
    for (const [index, row] of rows.entries()) appendCopied(result, row, slots[index] ?? 0);
    return runMs;
  }
}

function nameCaches(fetches: Fetches, slot: number, numLayers: number): void {
  for (let layer = 0; layer < numLayers; layer += 1) {
    fetches[presentKey(slot, layer)] = null;
    fetches[presentValue(slot, layer)] = null;
  }
}

/** Writes the new keys and values of a row into its own buffers. */
function appendCopied(result: RunResult, row: RunnerRow, slot: number): void {
  for (const [layer, keys] of row.cache.keys.entries()) {
    copyRows(result[presentKey(slot, layer)], keys, row);
    copyRows(result[presentValue(slot, layer)], row.cache.values[layer], row);
  }
}

function copyRows(from: RawTensor | undefined, to: RawTensor | undefined, row: RunnerRow): void {
  if (from === undefined || to === undefined) throw new Error('the runtime returned no keys and values');
  const [, heads = 0, toLength = 0, headDim = 0] = to.dims;
  const fromLength = from.dims[2] ?? 0;
  const begin = row.past * headDim;
  const end = (row.past + row.tokens.length) * headDim;
  for (let head = 0; head < heads; head += 1) {
    const fromHead = head * fromLength * headDim;
    const rows = (from.data as Float32Array).subarray(fromHead + begin, fromHead + end);
    (to.data as Float32Array).set(rows, head * toLength * headDim + begin);
  }
}
