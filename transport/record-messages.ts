import type { EndReason, ModelId, SamplingParams } from '../core/request.ts';

/** Who says a record: any subserver that was told to record. */
interface RecordSource {
  rid: string;
  model: ModelId;
  replica: string;
  /** Hash of the sender's deployment. */
  configHash: string;
  /** Counts what this replica has recorded since its start: a jump tells of messages that were lost. */
  number: number;
}

/** A head's score with the digest of its file: another file under the same name is another head. */
export interface RecordedScore {
  digest: string;
  /** NaN where the head's inputs were not finite. */
  score: number;
}

/** subserver → whoever records: one row of a step, what its router saw of it and what became of it. */
export interface StepRecord extends RecordSource {
  kind: 'step-record';
  /** Id of the router that decided. */
  router: string;
  /** Index of the row's token in the sequence. */
  position: number;
  /** Generated tokens before it. */
  numGenerated: number;
  numSinceArrival: number;
  sampling: SamplingParams;
  /** The sequence from the last record of this replica and request on: tokens[position − suffix.length .. position). */
  suffix: readonly number[];
  sampled: number;
  logprob: number;
  entropyNats: number;
  normalizedEntropy: number;
  /** What the router named; 0 = stay. */
  destination: number;
  /** What the row was to write: the sampled token, unless the router chose another. */
  token: number;
  /** Whether it was committed here, not discarded. */
  isKept: boolean;
  logSumExp?: number;
  /** The largest raw logits, descending, and their ids; as many of one as of the other. */
  topValues?: Float32Array;
  topIds?: Int32Array;
  hidden?: Float32Array;
  scores?: readonly RecordedScore[];
  /** Fields of the handoff that began the visit. */
  algo?: Readonly<Record<string, number | string | boolean | readonly number[]>>;
}

/** home → whoever records: the request is over. */
export interface RecordEnd extends RecordSource {
  kind: 'record-end';
  reason: EndReason;
  completionTokens: number;
}
