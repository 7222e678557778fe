/** Models are numbered from 1; as a destination, 0 means "stay local". */
export type ModelId = number;

/** The destination that keeps a request where it is. */
export const STAY = 0;

/** How tokens are drawn. The same parameters hold at every model of a request. */
export interface SamplingParams {
  /** 0 = greedy. */
  temperature: number;
  /** Nucleus mass in (0, 1]; 1 = off. */
  topP: number;
  /** Number of candidates; -1 = off. */
  topK: number;
  /** Smallest probability relative to the best token, in [0, 1]; 0 = off. */
  minP: number;
  /** An integer; drawn at the gateway where the client gave none. */
  seed: number;
}

/** When a request ends. */
export interface RequestLimits {
  /** Tokens to generate at most, ≥ 1. */
  maxTokens: number;
  /** Token ids that end the request: committed, never shown. Empty with `ignore_eos`. */
  stopIds: readonly number[];
}

/** Why a request ended. `eos`: a stop id; `stop`: a stop string, found at the gateway. */
export type EndReason = 'eos' | 'stop' | 'length' | 'abort' | 'deadline' | 'error';

/** Every {@link EndReason}, for validation at the wire. */
export const END_REASONS: readonly EndReason[] = ['eos', 'stop', 'length', 'abort', 'deadline', 'error'];
