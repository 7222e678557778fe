import type { ModelConfig } from '../checkpoint/model-config.ts';

/** What distinguishes one graph of a model from another. */
export interface GraphSpec {
  config: ModelConfig;
  /** Slots for rows; 1 gives the plain graph without splitting. */
  rows: number;
  /** Width of the top-k output, at most `sampledVocab`. */
  topK: number;
  /** Ids at or above this are padding: no top-k entry, never sampled. */
  sampledVocab: number;
}
