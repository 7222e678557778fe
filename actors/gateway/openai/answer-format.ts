import type { Deployment } from '../../../core/deployment.ts';
import type { Delta } from '../generation-events.ts';
import { modelName, type Usage } from '../usage.ts';

/** What all objects of one answer share. */
export interface AnswerHead {
  /** Id of the answer, made here; nothing a client sends becomes part of it. */
  id: string;
  /** Seconds since the epoch. */
  created: number;
  /** The served name the client asked for. */
  model: string;
  promptIds: readonly number[];
  deployment: Deployment;
  returnTokenIds: boolean;
  includeUsage: boolean;
}

/** A whole answer, collected. */
export interface CollectedAnswer {
  text: string;
  delta: Delta;
  finishReason: 'stop' | 'length';
  stopString: string | undefined;
  usage: Usage;
}

/** The JSON objects of one endpoint. Chat and completion differ in these and in nothing else. */
export interface AnswerFormat {
  /** First object of a stream, sent before any text; undefined where the endpoint has none. */
  opening(): object | undefined;
  delta(delta: Delta): object;
  closing(finishReason: 'stop' | 'length', stopString: string | undefined): object;
  /** The object after the closing one, for `stream_options.include_usage`. */
  usage(usage: Usage): object;
  whole(answer: CollectedAnswer): object;
}

/** The `usage` object, with our extras below `tokenrail`. */
export function usageObject(usage: Usage): object {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    tokenrail: { tokens_by_model: usage.tokensByModel, handoffs: usage.handoffs, llm_ratio: usage.llmRatio },
  };
}

/** Fields of a choice for `return_token_ids`: the ids as vLLM returns them, and where each token came from. */
export function tokenFields(head: AnswerHead, delta: Delta): object {
  if (!head.returnTokenIds) return {};
  return {
    token_ids: delta.ids,
    tokenrail: {
      models: delta.models.map((model) => modelName(head.deployment, model)),
      // JSON has no NaN: a token without a signal shows null.
      signals: delta.signals.map((signal) => (Number.isFinite(signal) ? signal : null)),
      texts: delta.texts,
    },
  };
}

/** `usage: null` on every chunk but the usage chunk, as OpenAI sends it. */
export function usagePlaceholder(head: AnswerHead): object {
  return head.includeUsage ? { usage: null } : {};
}
