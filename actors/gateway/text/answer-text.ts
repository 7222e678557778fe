import { TokenrailError } from '../../../core/errors.ts';
import type { TokenBytes } from '../../../engine/tokenizer.ts';
import { IncrementalDetokenizer, type DetokenizerOptions } from './detokenizer.ts';
import { StopMatcher } from './stop-matcher.ts';

export interface AnswerTextOptions extends DetokenizerOptions {
  stop: readonly string[];
  /** Whether the stop string that ends the answer is part of its text. Default false. */
  includeStopText?: boolean;
}

/** What some tokens add to an answer. */
export interface AnswerDelta {
  /** New text; empty while a character or a possible stop string is incomplete. */
  text: string;
  /**
   * One entry per id pushed, joined equal to `text`: what this token let out. Text that was held back comes out with
   * the token that decides about it. Entries of ids that were known already or come after the stop are empty.
   */
  tokenTexts: string[];
  /** Set by the push that found a stop string: number of generated tokens to keep, the one that completed it included. */
  stoppedAt?: number;
  /** The stop string that was found. */
  stop?: string;
}

/** The text of one answer: ids in, text out, ended by stop strings. The same for streams and whole answers. */
export class AnswerText {
  readonly #detokenizer: IncrementalDetokenizer;
  readonly #matcher: StopMatcher;
  readonly #includeStopText: boolean;
  #numTokens = 0;
  #isStopped = false;

  constructor(tokens: TokenBytes, options: AnswerTextOptions) {
    this.#detokenizer = new IncrementalDetokenizer(tokens, options);
    this.#matcher = new StopMatcher(options.stop);
    this.#includeStopText = options.includeStopText ?? false;
  }

  /** Generated tokens read so far; after a stop, those to keep. */
  get numTokens(): number {
    return this.#numTokens;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /**
   * @param ids tokens of the answer, without the one that ended it (EOS)
   * @param firstIndex index of `ids[0]` among the generated tokens; ids that were pushed before are skipped
   * @throws TokenrailError `illegal_state` where tokens are missing in between
   */
  push(ids: readonly number[], firstIndex: number): AnswerDelta {
    const delta: AnswerDelta = { text: '', tokenTexts: ids.map(() => '') };
    if (this.#isStopped) return delta;
    if (firstIndex > this.#numTokens) {
      throw new TokenrailError(
        'illegal_state',
        `tokens ${this.#numTokens} to ${firstIndex - 1} of the answer are missing`,
      );
    }
    for (let i = this.#numTokens - firstIndex; i < ids.length && !this.#isStopped; i += 1) {
      delta.tokenTexts[i] = this.#pushOne(ids[i] ?? -1, delta);
    }
    delta.text = delta.tokenTexts.join('');
    return delta;
  }

  /** Ends the answer where no stop string did; what was held back. */
  finish(): string {
    if (this.#isStopped) return '';
    this.#isStopped = true;
    return this.#matcher.push(this.#detokenizer.flush()).emit + this.#matcher.flush();
  }

  #pushOne(id: number, delta: AnswerDelta): string {
    this.#numTokens += 1;
    const { emit, matched } = this.#matcher.push(this.#detokenizer.push(id));
    if (matched === undefined) return emit;
    this.#isStopped = true;
    delta.stoppedAt = this.#numTokens;
    delta.stop = matched.stop;
    return this.#includeStopText ? emit + matched.stop : emit;
  }
}
