import type { GraphSpec } from '../graph/graph-spec.ts';
import { OUTPUT } from '../graph/io-names.ts';
import type { Fetches, RawTensor, RunResult } from './ort-session.ts';
import { OutputBuffer } from './output-buffer.ts';

/** The numbers that describe one position. */
export interface PositionSignals {
  logSumExp: number;
  entropy: number;
  /** Probability of ids that are never sampled. */
  paddedMass: number;
}

/** One row per position: [positions, hidden] and [positions, k]. */
export interface HeadMatrices {
  hidden: RawTensor;
  topValues: RawTensor;
}

/**
 * The tensors that runs write their results to; shared by all graphs of a model, since only one runs at a
 * time. Positions are those asked for in the run, tokens all that were fed, both in the order of the rows.
 */
export class StepOutputs {
  private readonly logitsBuffer: OutputBuffer;
  private readonly hiddenBuffer: OutputBuffer;
  private readonly topValuesBuffer: OutputBuffer;
  private readonly topIdsBuffer: OutputBuffer;
  private readonly logSumExp = new OutputBuffer('float32', 1);
  private readonly entropy = new OutputBuffer('float32', 1);
  private readonly paddedMass: OutputBuffer | undefined;
  private readonly tokenSums = new OutputBuffer('float32', 1);
  private readonly perPosition: ReadonlyMap<string, OutputBuffer>;
  private readonly tensors: Fetches = {};

  constructor(spec: Omit<GraphSpec, 'rows'>) {
    const { config, topK } = spec;
    this.logitsBuffer = new OutputBuffer('float32', config.vocabSize);
    this.hiddenBuffer = new OutputBuffer('float32', config.hiddenSize);
    this.topValuesBuffer = new OutputBuffer('float32', topK);
    this.topIdsBuffer = new OutputBuffer('int64', topK);
    const perPosition = new Map<string, OutputBuffer>([
      [OUTPUT.logits, this.logitsBuffer],
      [OUTPUT.hidden, this.hiddenBuffer],
      [OUTPUT.topValues, this.topValuesBuffer],
      [OUTPUT.topIds, this.topIdsBuffer],
      [OUTPUT.logSumExp, this.logSumExp],
      [OUTPUT.entropy, this.entropy],
    ]);
    if (spec.sampledVocab < config.vocabSize) {
      this.paddedMass = new OutputBuffer('float32', 1);
      perPosition.set(OUTPUT.paddedMass, this.paddedMass);
    }
    this.perPosition = perPosition;
  }

  /** Output tensors for a run of this size; the same object every time. */
  fetches(positions: number, tokens: number): Readonly<Fetches> {
    for (const [name, buffer] of this.perPosition) this.tensors[name] = buffer.tensor(positions);
    this.tensors[OUTPUT.tokenSums] = this.tokenSums.tensor(tokens);
    return this.tensors;
  }

  /** Takes over results that the runtime allocated itself. */
  copyFrom(result: RunResult): void {
    for (const [name, buffer] of this.perPosition) buffer.copyFrom(result[name]);
    this.tokenSums.copyFrom(result[OUTPUT.tokenSums]);
  }

  signals(position: number): PositionSignals {
    return {
      logSumExp: this.logSumExp.scalar(position),
      entropy: this.entropy.scalar(position),
      paddedMass: this.paddedMass?.scalar(position) ?? 0,
    };
  }

  /** Whether these tokens went through the model without NaN or infinities. */
  areFinite(firstToken: number, count: number): boolean {
    for (let token = firstToken; token < firstToken + count; token += 1) {
      if (!Number.isFinite(this.tokenSums.scalar(token))) return false;
    }
    return true;
  }

  /** What heads read of these positions. */
  matrices(positions: readonly number[]): HeadMatrices {
    return {
      hidden: this.hiddenBuffer.matrix(positions),
      topValues: this.topValuesBuffer.matrix(positions),
    };
  }

  /** A view; copy it before the next run. */
  logits(position: number): Float32Array {
    return this.logitsBuffer.floats(position);
  }

  /** A view; copy it before the next run. */
  hidden(position: number): Float32Array {
    return this.hiddenBuffer.floats(position);
  }

  /** A view; copy it before the next run. */
  topValues(position: number): Float32Array {
    return this.topValuesBuffer.floats(position);
  }

  topIds(position: number): Int32Array {
    return this.topIdsBuffer.ids(position);
  }
}
