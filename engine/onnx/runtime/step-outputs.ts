import { OUTPUT } from '../graph/io-names.ts';
import type { GraphSpec } from '../graph/graph-spec.ts';
import { readIds } from './int64-scratch.ts';
import { float32Tensor, type Fetches, type RawTensor, type RunResult } from './ort-session.ts';

const SCALAR_OUTPUTS = [OUTPUT.logSumExp, OUTPUT.entropy] as const;

/** Signals of one position, as views or copies that hold until the next run. */
export interface PositionSignals {
  logSumExp: number;
  entropy: number;
  paddedMass: number;
}

/**
 * The tensors that a run writes its signals to, for up to `capacity` positions; shared by all graphs of a
 * model, since only one runs at a time.
 */
export class StepOutputs {
  private readonly widths: ReadonlyMap<string, number>;
  private readonly buffers = new Map<string, Float32Array | BigInt64Array>();
  private readonly fetchesByCount = new Map<number, Fetches>();
  private capacity = 0;

  constructor(spec: Omit<GraphSpec, 'rows'>) {
    const { config, topK } = spec;
    const widths = new Map<string, number>([
      [OUTPUT.logits, config.vocabSize],
      [OUTPUT.hidden, config.hiddenSize],
      [OUTPUT.topValues, topK],
      [OUTPUT.topIds, topK],
    ]);
    for (const name of SCALAR_OUTPUTS) widths.set(name, 1);
    if (spec.sampledVocab < config.vocabSize) widths.set(OUTPUT.paddedMass, 1);
    this.widths = widths;
  }

  /** Output tensors for a run with this many positions; valid until a larger count is asked for. */
  fetches(count: number): Readonly<Fetches> {
    if (count > this.capacity) this.grow(count);
    let fetches = this.fetchesByCount.get(count);
    if (fetches === undefined) {
      fetches = {};
      for (const [name, width] of this.widths) fetches[name] = this.tensor(name, width, count);
      this.fetchesByCount.set(count, fetches);
    }
    return fetches;
  }

  /** Takes over results that the runtime allocated itself. */
  copyFrom(result: RunResult): void {
    for (const name of this.widths.keys()) {
      const data = result[name]?.data;
      const buffer = this.buffers.get(name);
      if (data instanceof Float32Array && buffer instanceof Float32Array) buffer.set(data);
      else if (data instanceof BigInt64Array && buffer instanceof BigInt64Array) buffer.set(data);
      else throw new Error(`the runtime returned no ${name}`);
    }
  }

  signals(position: number): PositionSignals {
    return {
      logSumExp: this.scalar(OUTPUT.logSumExp, position),
      entropy: this.scalar(OUTPUT.entropy, position),
      paddedMass: this.widths.has(OUTPUT.paddedMass) ? this.scalar(OUTPUT.paddedMass, position) : 0,
    };
  }

  /** A view; copy it before the next run. */
  logits(position: number): Float32Array {
    return this.floats(OUTPUT.logits, position);
  }

  /** A view; copy it before the next run. */
  hidden(position: number): Float32Array {
    return this.floats(OUTPUT.hidden, position);
  }

  /** A view; copy it before the next run. */
  topValues(position: number): Float32Array {
    return this.floats(OUTPUT.topValues, position);
  }

  topIds(position: number): Int32Array {
    const width = this.widths.get(OUTPUT.topIds) ?? 0;
    return readIds(this.buffers.get(OUTPUT.topIds) as BigInt64Array, position * width, width);
  }

  private scalar(name: string, position: number): number {
    return (this.buffers.get(name) as Float32Array)[position] ?? NaN;
  }

  private floats(name: string, position: number): Float32Array {
    const width = this.widths.get(name) ?? 0;
    return (this.buffers.get(name) as Float32Array).subarray(position * width, (position + 1) * width);
  }

  private grow(count: number): void {
    this.capacity = count;
    this.fetchesByCount.clear();
    for (const [name, width] of this.widths) {
      const size = count * width;
      this.buffers.set(name, name === OUTPUT.topIds ? new BigInt64Array(size) : new Float32Array(size));
    }
  }

  private tensor(name: string, width: number, count: number): RawTensor {
    const buffer = this.buffers.get(name);
    const dims = [1, count, width];
    if (buffer instanceof Float32Array) return float32Tensor(buffer.subarray(0, count * width), dims);
    const data = (buffer as BigInt64Array).subarray(0, count * width);
    return { type: 'int64', dims, data, location: 'cpu' };
  }
}
