/** The model families that the graph builder knows. */
export const ARCHITECTURES = ['LlamaForCausalLM', 'Qwen2ForCausalLM', 'Qwen3ForCausalLM'] as const;

export type Architecture = (typeof ARCHITECTURES)[number];

/** Frequency scaling of Llama 3.1 ("llama3" in `rope_scaling`). */
export interface Llama3RopeScaling {
  factor: number;
  lowFreqFactor: number;
  highFreqFactor: number;
  originalMaxPositionEmbeddings: number;
}

export interface RopeConfig {
  theta: number;
  /** Undefined: the default, unscaled frequencies. */
  llama3?: Llama3RopeScaling;
}

/** What the graph needs to know of a checkpoint, normalised over families and spellings. */
export interface ModelConfig {
  architecture: Architecture;
  vocabSize: number;
  hiddenSize: number;
  intermediateSize: number;
  numLayers: number;
  numHeads: number;
  numKvHeads: number;
  headDim: number;
  maxPositionEmbeddings: number;
  rmsNormEps: number;
  rope: RopeConfig;
  tieWordEmbeddings: boolean;
  /** Biases on the query, key and value projections. */
  hasQkvBias: boolean;
  /** A bias on the attention's output projection. */
  hasOutputBias: boolean;
  hasMlpBias: boolean;
  /** RMSNorm over each head of queries and keys, before the rotation. */
  hasQkNorm: boolean;
  /** Set when some layer attends to this many last tokens only; longer sequences are not supported then. */
  slidingWindowTokens?: number;
  eosIds: readonly number[];
}
