import type { SamplingParams } from '../../core/request.ts';

/** A message of a conversation. Its content parts are joined already. */
export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly name?: string;
  readonly tool_call_id?: string;
}

/** A conversation, to be rendered by the checkpoint's chat template. */
export interface ChatPrompt {
  readonly kind: 'messages';
  readonly messages: readonly ChatMessage[];
  /** Whether the template opens the assistant's turn. Default true, false with `continueFinalMessage`. */
  readonly addGenerationPrompt: boolean;
  /** Whether the answer continues the last message instead of opening a new one. Default false. */
  readonly continueFinalMessage: boolean;
  /** Further variables for the template. */
  readonly templateKwargs: Readonly<Record<string, unknown>>;
}

/** A text to be continued; control tokens written in it are control tokens. */
export interface TextPrompt {
  readonly kind: 'text';
  readonly text: string;
}

/** Token ids to be continued; not yet checked against a vocabulary. */
export interface IdsPrompt {
  readonly kind: 'ids';
  readonly ids: readonly number[];
}

export type Prompt = ChatPrompt | TextPrompt | IdsPrompt;

/** What a client asks for, validated and free of OpenAI's spelling. */
export interface GenerationRequest {
  readonly kind: 'chat' | 'completion';
  readonly model: string;
  readonly prompt: Prompt;
  /** Without the seed: see {@link seed}. */
  readonly sampling: Omit<SamplingParams, 'seed'>;
  /** Absent: the gateway draws one. */
  readonly seed?: number;
  /** Tokens to generate at most, 1 to 2^31 − 1. Absent: as many as fit the context. */
  readonly maxTokens?: number;
  /** At most four texts, none empty; the answer ends before the first one that appears. */
  readonly stop: readonly string[];
  /** Whether the stop text that ended the answer is part of it. Default false. */
  readonly includeStopText: boolean;
  /** Token ids that end the answer, beside the checkpoint's own. */
  readonly stopTokenIds: readonly number[];
  /** Whether the checkpoint's end tokens are ordinary tokens. Default false. */
  readonly ignoreEos: boolean;
  /** Whether control tokens leave no text in the answer. Default true. */
  readonly skipSpecialTokens: boolean;
  readonly stream: boolean;
  /** Whether a stream ends with a usage chunk. */
  readonly includeUsage: boolean;
  readonly returnTokenIds: boolean;
  /** Id of a router of the deployment; absent = its default. */
  readonly router?: string;
  /** The client's own name for its end user; for logs only. */
  readonly user?: string;
}
