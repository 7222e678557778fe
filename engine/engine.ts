import type { SamplingParams } from '../core/request.ts';

/**
 * A small trained network that the engine runs beside the model, over all rows of a step at once: one score per
 * row. What it reads (hidden vector, largest logits, embedding of the sampled token) follows from its file.
 */
export interface HeadSpec {
  /** Its safetensors file; also the key of its score in `scores`. Relative to the working directory. */
  file: string;
  /** What the file must hold by its metadata, such as `LinearHead`. Default: whatever it says. */
  architecture?: string;
}

/** What a router wants to see of each row; the engine computes nothing that nobody asked for. */
export interface SignalNeeds {
  /** The k largest raw logits, descending, with their ids. */
  topK?: number;
  /** The vector after the final norm that the head multiplies, at the last fed position. */
  hidden?: boolean;
  /** The model's input embedding of the sampled token. */
  embedding?: boolean;
  /** A copy of the raw logits. Expensive: vocabulary × 4 bytes per row and step. */
  logits?: boolean;
  /** Networks whose scores are wanted. An engine knows those that it was created with. */
  heads?: readonly HeadSpec[];
}

/** One request's part of a step. */
export interface StepRow {
  /** The caller's number for the sequence; its KV lives under this number until `release`. */
  seq: number;
  /** Leading tokens whose KV counts. A smaller value than before is a rollback. 0 starts afresh. */
  past: number;
  /** Tokens to feed after them, at least 1. Token i stands at position past + i. */
  tokens: readonly number[];
  /** False for a part of a prompt that does not reach its end: nothing is sampled, no signals. */
  sample: boolean;
  sampling: SamplingParams;
  /** What is wanted of this row, part of what is wanted of the step. Default: all of that. */
  needs?: SignalNeeds;
}

export interface StepBatch {
  rows: readonly StepRow[];
  /** What any of the rows wants. */
  needs: SignalNeeds;
}

/** Signals and the sampled token of one row. All signals come from the raw logits at temperature 1. */
export interface SampledRow {
  seq: number;
  ok: true;
  /** Drawn with the row's sampling parameters at position past + tokens.length; -1 when `sample` was false. */
  sampled: number;
  /** Natural-log probability of `sampled` under the raw distribution. */
  logprob: number;
  /** −Σ p ln p in nats over the logits' whole width. */
  entropyNats: number;
  /** entropyNats / ln(width of the logits), in [0, 1]. */
  normalizedEntropy: number;
  /** ln Σ exp of the raw logits over their whole width: a listed token has probability exp(logit − logSumExp). */
  logSumExp?: number;
  /** Difference of the two largest raw logits: how near greedy decoding is to another answer. */
  top2Margin: number;
  topValues?: Float32Array;
  topIds?: Int32Array;
  hidden?: Float32Array;
  embedding?: Float32Array;
  logits?: Float32Array;
  /** Score of each head, by its file: sigmoid of its output, in [0, 1]; NaN where its inputs are not finite. */
  scores?: Readonly<Record<string, number>>;
}

/** A row that failed alone: NaN or infinite logits. The other rows of the step stand. */
export interface FailedRow {
  seq: number;
  ok: false;
  code: 'numerical_failure';
  message: string;
}

export type RowResult = SampledRow | FailedRow;

/** The outcome of a step: one result per row, in order; or the failure of the engine as a whole. */
export type StepOutcome =
  { ok: true; rows: readonly RowResult[]; timing: StepTiming } | { ok: false; error: Error };

/** Where the time of a step went, in milliseconds, measured inside the engine. */
export interface StepTiming {
  /** Inside the runtime's `run()`, heads included. */
  runMs: number;
  /** Of that, inside the heads. Absent: there are none. */
  headMs?: number;
  /** The whole step inside the engine: preparing, running, sampling. */
  totalMs: number;
}

export interface EngineInfo {
  /** `onnx`, or a label such as `simulated` that every output must show. */
  kind: string;
  /** True when the weights are random (`--load-format dummy`). */
  hasRandomWeights: boolean;
  architecture: string;
  numParameters: number;
  /** Width of the logits. */
  vocabSize: number;
  hiddenSize: number;
  /** Longest sequence, prompt and answer together. */
  maxModelLenTokens: number;
  /** Largest number of rows of one step. */
  maxNumSeqs: number;
  /** KV budget: this many blocks of this many tokens. */
  numKvBlocks: number;
  blockSizeTokens: number;
  /** Ids that end a sequence by the checkpoint's generation config. */
  eosIds: readonly number[];
  /** Human-readable facts for the start-up log: KV path (in place or copied), threads, weight format. */
  notes: readonly string[];
}

/**
 * Token ids in, sampled tokens and signals out. Steps are ragged: rows may bring any number of tokens.
 * One step at a time; `onDone` is called exactly once per step, never synchronously.
 */
export interface Engine {
  /** Loads the model. @throws TokenrailError `checkpoint_invalid`, `engine_failed` */
  start(): Promise<EngineInfo>;
  /** @throws TokenrailError `illegal_state` while a step is in flight or before `start` */
  step(batch: StepBatch, onDone: (outcome: StepOutcome) => void): void;
  /** Frees the KV of these sequences. Unknown numbers are ignored. Not for sequences of the step in flight. */
  release(seqs: readonly number[]): void;
  /** Waits for the step in flight, then ends the engine. Idempotent. */
  close(): Promise<void>;
}
