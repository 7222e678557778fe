import type { TokenrailError } from '../../core/errors.ts';
import type { ModelId } from '../../core/request.ts';
import type { Usage } from './usage.ts';

/** What one message of the home added to the answer. */
export interface Delta {
  /** New text; may be empty while a character or a possible stop string is incomplete. */
  text: string;
  /** New tokens, with the model that wrote each and the signal its router saw (NaN = none). */
  ids: readonly number[];
  models: readonly ModelId[];
  signals: readonly number[];
  /** Each token's own piece of `text`-to-be, '' while held back. */
  texts: readonly string[];
}

/** How a request ended. */
export type GenerationEnd =
  | { kind: 'finished'; finishReason: 'stop' | 'length'; stopString: string | undefined; usage: Usage }
  | { kind: 'failed'; error: TokenrailError; usage: Usage };

/** What a front-end is told about its request; calls come in this order, `onEnd` exactly once and last. */
export interface GenerationListener {
  /** A home took the request: from here on it is not refused any more. */
  onAdmitted(): void;
  onDelta(delta: Delta): void;
  onEnd(end: GenerationEnd): void;
}
