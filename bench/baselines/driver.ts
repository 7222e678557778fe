import type { ModelId, SamplingParams } from '../../core/request.ts';

/** One request as every driver takes it: token ids in, token ids out. */
export interface BenchRequest {
  /** Unique within a run; equal numbers mean equal requests in all modes. */
  id: number;
  tokens: readonly number[];
  maxTokens: number;
  /** Ids that end the request, committed like any other. */
  stopIds: readonly number[];
  sampling: SamplingParams;
}

/** What a driver tells about its requests. Called on the driver's thread, never inside `submit`. */
export interface RequestSink {
  /** Committed tokens in order, as the client hears of them, with the model that wrote each. */
  onTokens(id: number, ids: readonly number[], models: readonly ModelId[]): void;
  /** The last call of a request. `failure`: it ended with an error. */
  onEnd(id: number, failure?: string): void;
}

/** One way of serving two models over the same engines. */
export interface Driver {
  readonly name: string;
  /** Ready for requests once resolved. */
  start(sink: RequestSink): Promise<void>;
  submit(request: BenchRequest): void;
  /** Ends whatever runs; nothing is reported any more. Waits for steps in flight. Idempotent. */
  close(): Promise<void>;
}
